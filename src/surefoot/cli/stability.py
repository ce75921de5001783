"""`surefoot stability`: how far measures, and the choices made by them, hold when scores, queries or times change."""

from __future__ import annotations

from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from surefoot.arguments import LARGEST_COUNT, MOST_DRAWS, integer, parse_numbers
from surefoot.cli import shared_options as shared
from surefoot.cli.commands import helpful_group
from surefoot.cli.option import FILE, LIST, NAME, OptionGroup, option
from surefoot.cli.outputs import STUDY_CSV
from surefoot.cli.printing import results, show
from surefoot.cli.runs import input_files, measure_names, read_judged_runs
from surefoot.errors import ArgumentError
from surefoot.stability.study_data import (
    MEASURES,
    MOST_QUERIES_LISTED,
    NOISE_SIZES,
    PERIOD,
    PERIOD_SIZE,
    REPEATS,
    REPLICATES,
    SUBSET_SIZES,
    SUBSETS,
)

if TYPE_CHECKING:
    from surefoot.data.types.runs import Qrels, Run
    from surefoot.data.types.scores import Scores
    from surefoot.stability.study import Study

stability = helpful_group("stability", "Show which measures, and choices by them, are stable.")


class _Judged:
    """What every study is given: judged runs, measures, a seed, how often queries are asked, and where results go."""

    def __init__(
        self, files: list[str], measure: list[str] | None, seed: int, traffic: str | None, **results: Any
    ) -> None:
        self.files, self.seed, self.traffic = files, seed, traffic
        self._measure, self._delivery = measure, _RESULTS.make(**results)
        self._inputs: list[str] = []

    def check(self, *more: str) -> None:
        """Check, before anything is read, that the results can be written; `more` is read besides."""
        self._inputs = input_files([*self.files, *more, *([] if self.traffic is None else [self.traffic])])
        self._delivery.check(self._inputs)

    def measures(self) -> list[str]:
        """The measures, in their own notation."""
        from surefoot.measures.notation import Measure

        return [str(Measure.parse(measure)) for measure in measure_names(self._measure or []) or MEASURES]

    def runs(self, least: int = 1) -> tuple[Qrels, list[Run]]:
        """The judgments and the runs."""
        if len(self.files) < 1 + least:
            raise ArgumentError(
                f"judgments and at least {'one run' if least == 1 else f'{least} runs'} are required: QRELS RUN...; "
                "see --help"
            )
        return read_judged_runs(self.files)

    def scores(self) -> list[Scores]:
        """The scores of two runs or more, by each measure."""
        from surefoot.measures.scoring import score

        names = self.measures()
        return score(*self.runs(2), names, traffic=self.traffic)

    def finish(self, study: Study) -> None:
        """Write and print a study."""
        from surefoot.stability.text import tables

        self._delivery.finish(study, lambda: show(tables(study.to_dict())), self._inputs)


_RESULTS = results("json csv html", csv=STUDY_CSV)
_MEASURES = option("-m --measure", "Repeatable.", NAME, shown=", ".join(MEASURES[:2]) + ", …")
_JUDGED = OptionGroup(
    _Judged,
    {
        "files": (shared.JudgedRuns, Parameter.empty),
        "measure": (Annotated[list[str] | None, _MEASURES], None),
        "seed": shared.EVERYWHERE["seed"],
        "traffic": (shared.TrafficFile, None),
    }
    | _RESULTS.options,
)
_Subsets = Annotated[int, option("--subsets", "Random subsets.", min=1, max=MOST_DRAWS)]


@shared.add_command(stability)
def noise(
    sizes: Annotated[
        str | None,
        option("--sizes", "Standard deviations.", LIST, shown=f"{NOISE_SIZES[0]:g} to {NOISE_SIZES[-1]:g}"),
    ] = None,
    seeds: Annotated[int, option("--seeds", "Seeds for each size.", min=1, max=MOST_DRAWS)] = REPEATS,
    query: Annotated[str | None, option("--query", "To follow.", NAME, shown="what changes most")] = None,
    raw: Annotated[bool, option("--raw", "Noise on scores, not on their percentiles.")] = False,
    *,
    judged: Annotated[_Judged, _JUDGED],
) -> None:
    """Show the mean and the spread of each measure while more and more noise is added to the scores.

    **Example:** `surefoot stability noise qrels.txt new.run.gz --sizes 0,0.05,0.1 --html noise.html`
    """
    judged.check()
    from surefoot.stability.noise_study import noise as noise_study

    qrels, runs = judged.runs()
    study = noise_study(
        qrels, runs, judged.measures(), sizes=_sizes(sizes), repeats=seeds, seed=judged.seed,
        normalize="none" if raw else "percentile", query=query, traffic=judged.traffic,
    )  # fmt: skip
    judged.finish(study)


@shared.add_command(stability)
def subsets(
    sizes: Annotated[
        str | None,
        option("--sizes", "Queries in a subset.", LIST, shown=f"{','.join(map(str, SUBSET_SIZES[:3]))},…"),
    ] = None,
    subsets: _Subsets = SUBSETS,
    *,
    judged: Annotated[_Judged, _JUDGED],
) -> None:
    """Show which of two systems each measure chooses on random subsets of K queries.

    **Example:** `surefoot stability subsets qrels.txt f1.run f2.run --sizes 10,50,200`
    """
    judged.check()
    from surefoot.stability.picks import subsets as subset_study

    numbers = _sizes(sizes)
    whole_sizes = (
        None
        if numbers is None
        else [integer("--sizes", int(size) if size.is_integer() else size, 1) for size in numbers]
    )
    judged.finish(subset_study(judged.scores(), sizes=whole_sizes, subsets=subsets, seed=judged.seed))


@shared.add_command(stability)
def time(
    dates: Annotated[Path | None, option("--dates", "Lines of a query and a date: 301 2026-11-15.", FILE)] = None,
    period: Annotated[str, option("--period", "day, week or month.", "WORD")] = PERIOD,
    size: Annotated[int, option("--size", "Queries in a subset.", min=1, max=LARGEST_COUNT)] = PERIOD_SIZE,
    subsets: _Subsets = SUBSETS,
    *,
    judged: Annotated[_Judged, _JUDGED],
) -> None:
    """Show which of two systems each measure chooses in each period of time.

    **Example:** `surefoot stability time qrels.txt f1.run f2.run --dates dates.txt --size 50`
    """
    judged.check(*([] if dates is None else [str(dates)]))
    from surefoot.data.reading.query_tables import read_dates
    from surefoot.stability.picks import time as time_study

    if dates is None:
        raise ArgumentError(
            "the queries have no dates; give a file with a query and a date on each line (such as '301 2026-11-15') "
            "with --dates"
        )
    known = read_dates(dates)
    judged.finish(time_study(judged.scores(), known, period=period, size=size, subsets=subsets, seed=judged.seed))


@shared.add_command(stability)
def measures(
    bootstrap: Annotated[int, option("--bootstrap", "Resamples.", min=2, max=MOST_DRAWS)] = REPLICATES,
    most: Annotated[int, option("--most", "Disagreements to list.", min=0, max=LARGEST_COUNT)] = MOST_QUERIES_LISTED,
    *,
    judged: Annotated[_Judged, _JUDGED],
) -> None:
    """Rank systems by each measure, with confidence, and show where the measures disagree.

    **Example:** `surefoot stability measures qrels.txt f1.run f2.run f3.run`
    """
    judged.check()
    from surefoot.stability.picks import measures as compare_functions

    judged.finish(compare_functions(judged.scores(), replicates=bootstrap, most=most, seed=judged.seed))


def _sizes(text: str | None) -> list[float] | None:
    return None if text is None else parse_numbers(text, "--sizes", example="10,50,200")
