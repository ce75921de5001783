"""Where a command's output goes, checked before any work: nothing is overwritten unasked, and all can be written.

A command declares every file it reads and everything it writes; `check_outputs` is the one place that compares them.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from surefoot.errors import ArgumentError

Signature: TypeAlias = re.Pattern[bytes]
TERMINAL = "-"  # as the name of an output that is printed


def _json(schema: str) -> Signature:
    """The signature of JSON whose schema begins so."""
    return re.compile(rf'\A\{{\s*"schema": "surefoot/{schema}'.encode())


CHECKPOINT, EXPLANATION_JSON, HISTORY_JSON = map(_json, ("checkpoint/", "explanation/", "history/"))
JSON = _json(  # a result of any command: one may take the place of another, but never of a state
    "(?:(?:assessment|sweep|choice|decision|certificate|shown|personalization|explanation|history)/|stability-)"
)
SYSTEMS_CSV = re.compile(rb"\A(?:measure,)?system,mean,gain,reward,risk,")
QUERIES_CSV = re.compile(rb"\A(?:measure,)?query,system,baseline,score,difference,")
STUDY_CSV = re.compile(
    rb"\A(?:system,measure,noise,|measure,(?:rank,system,mean,|\w+,(?:queries,)?(?:difference,)?rate,))"
)
SWEEP_CSV = re.compile(rb"\Acandidate,kind,objective,alpha,part,")
PERSONAL_CSV = re.compile(rb"\Amodel,method,beta,alpha,chosen_as,part,")
HISTORY_CSV = re.compile(rb"\Adate,kind,file,measure,baseline,candidate,decision,")
DRAWS_CSV = re.compile(rb"\Aquery,times,could_lose,documents_to_judge\n")
SERVED_CSV = re.compile(rb"\Aquery,shown,score,threshold,why\n")  # which list each query is shown
METRICS = re.compile(  # those of an assessment, or of a result that decides
    rb'\A\{\s*"(?:(?P<system>[^"\n]+/)mean": [-+.e\d]+,\s*"(?P=system)geometric_mean": [-+.e\d]+,'
    rb'\s*"(?P=system)reward": |(?P<what>[^"\n]+/)(?P<how>decision|choice)/\w+": [01],\s*"(?P=what)(?P=how)/\w+": [01],'
    rb'\s*"(?P=what)(?P=how)/(?:undecided|unclear)": [01],)'
)
PAGE = re.compile(rb'<meta name="generator" content="surefoot ')
CHART = re.compile(rb"\A(?:\x89PNG|<\?xml|%PDF)(?s:.*)[>(\0]surefoot \d")
DECISION_MARKDOWN = re.compile(rb"\A<!-- surefoot decision -->")
DECISION_JUNIT = re.compile(rb'<testsuite name="surefoot gate: ')
EXPLANATION_MARKDOWN = re.compile(rb"\A# Query ")
CARD = re.compile(rb"\A---\nlibrary_name: surefoot\n")
DEMO = re.compile(rb"\A(q\d+) (?:Q0|0|automatic) \1-d\d{3} ")  # made-up runs and judgments


_REQUESTED: list[Output] = []  # of the command that runs
_BYTES_AT_EITHER_END = 1 << 12  # bytes at either end of a file in which its signature is looked for


@dataclass(frozen=True)
class Output:
    """A file that an option names; one that exists is replaced if it has the signature."""

    option: str
    path: str | Path | None
    signature: Signature | None = None

    def files(self) -> Iterator[Output]:
        """Each file that will be written."""
        yield self

    def written(self) -> list[str]:
        """Of what was requested, what is there complete since the command began."""
        from surefoot.data.writing.all_or_nothing import FINISHED

        return [str(file.path) for file in self.files() if _resolved(str(file.path)) in FINISHED]

    def check(self) -> None:
        """Raise an error if it cannot be written there."""
        from surefoot.data.writing.all_or_nothing import destination

        destination(str(self.path))

    def refusal(self) -> str | None:
        """Why what exists there must not be replaced without --force, if it must not."""
        from surefoot.data.reading.files import file_status, first_and_last_bytes

        existing = file_status(str(self.path))
        if existing is None or not stat.S_ISREG(existing.st_mode) or not existing.st_size:
            return None
        if self.signature is not None and self.signature.search(
            first_and_last_bytes(Path(str(self.path)), _BYTES_AT_EITHER_END)
        ):
            return None
        return f"already exists{', and it is not marked as a file that surefoot wrote' if self.signature else ''}"


@dataclass(frozen=True)
class OutputFolder(Output):
    """A folder that files of these names, each with its signature, are put into; what else it holds stays."""

    inside: Mapping[str, Signature | None] = field(default_factory=dict)

    def files(self) -> Iterator[Output]:
        """Each file that will be written."""
        for name, signature in self.inside.items():
            yield Output(self.option, Path(str(self.path)) / name, signature)

    def check(self) -> None:
        """Raise an error if it cannot be written there."""
        from surefoot.data.reading.files import file_status
        from surefoot.data.writing.all_or_nothing import destination, destination_folder

        destination_folder(str(self.path))
        for file in self.files():
            if file_status(str(file.path)) is not None:
                destination(str(file.path))


@dataclass(frozen=True)
class OutputModel(Output):
    """A folder that a model is saved to; one that holds other files is refused."""

    is_own_file: Callable[[str], bool] = field(kw_only=True)
    what: str = "a model"

    def written(self) -> list[str]:
        """The folder, if the file is there that is written last, and says what the folder is."""
        from surefoot.data.reading.folders import KINDS
        from surefoot.data.writing.all_or_nothing import FINISHED

        return [str(self.path)] if any(_resolved(str(self.path)) / name in FINISHED for name in KINDS) else []

    def check(self) -> None:
        """Raise an error if it cannot be written there, or if more than a model would be lost."""
        from surefoot.data.writing.all_or_nothing import destination_folder

        folder = destination_folder(str(self.path))
        entries = folder.iterdir() if folder.is_dir() else ()
        others = sorted(entry.name for entry in entries if not self.is_own_file(entry.name))
        if others:
            raise ArgumentError(
                f"{self.option}: the folder {self.path} contains files that do not belong to {self.what} "
                f"({', '.join(others[:3])}); choose a new folder"
            )

    def refusal(self) -> str | None:
        """Why what exists there must not be replaced without --force, if it must not."""
        folder = Path(str(self.path))
        return f"already contains {self.what}" if folder.is_dir() and any(folder.iterdir()) else None


def files_under(path: Path) -> list[Path]:
    """Every file of data that is a file or a folder, whatever it is called: none of them may be overwritten."""
    return [file for file in path.rglob("*") if file.is_file()] if path.is_dir() else [path]


def check_outputs(outputs: Iterable[Output], inputs: Iterable[str | Path | None], force: bool = False) -> None:
    """Reject, before anything is read, outputs that cannot be written, are an input, coincide, or would lose a file.

    An output whose path is None was not requested, an input that is None was not given. `force` allows to replace what
    exists, but never an input.
    """
    requested = [output for output in outputs if output.path is not None]
    _REQUESTED.extend(requested)
    read = {_identity(path): path for path in inputs if path is not None}
    taken: dict[object, Output] = {}
    for output in requested:
        if not str(output.path):
            raise ArgumentError(f"{output.option} is empty; give it a file name")
        if str(output.path) == TERMINAL:
            raise ArgumentError(f"{output.option} - cannot be printed; give it a file name (./- for one of this name)")
        output.check()
        for claim in (output, *output.files()):
            if (identity := _identity(str(claim.path))) is None:  # a pipe or device takes what it is given
                continue
            if identity in read:
                raise ArgumentError(
                    f"{claim.option} would overwrite the input file {read[identity]}; choose another output file"
                )
            other = taken.setdefault(identity, output)
            if other is not output:
                raise ArgumentError(
                    f"{other.option} and {claim.option} would both write to {claim.path}; choose two different files"
                )
    models = {identity: output for identity, output in taken.items() if isinstance(output, OutputModel)}
    for path, reason in [(path, "is an input") for path in read.values()] + [
        (str(output.path), f"{output.option} writes") for output in requested
    ]:
        for model in (models[folder] for folder in _folders(path) if folder in models):
            raise ArgumentError(
                f"{model.option} would replace the whole folder {model.path}, but it contains {path}, which {reason}; "
                "choose another folder"
            )
    for output in requested if not force else ():
        for file in output.files():
            if why := file.refusal():
                raise ArgumentError(
                    f"{file.option}: {file.path} {why}; choose another name, or add --force to replace it"
                )


def written_outputs() -> list[str]:
    """The files and models of this command that are complete: to be told where it fails afterwards."""
    return list(dict.fromkeys(path for output in _REQUESTED for path in output.written()))


def forget_outputs() -> None:
    """Begin another command in the same process."""
    from surefoot.data.writing.all_or_nothing import FINISHED

    _REQUESTED.clear()
    FINISHED.clear()


def _identity(path: str | Path) -> object:
    """The same for all names of one file or folder; None for what is neither."""
    from surefoot.data.reading.files import file_status

    existing = file_status(path)
    if existing is None:
        return _resolved(path)
    is_stored = stat.S_ISREG(existing.st_mode) or stat.S_ISDIR(existing.st_mode)
    return (existing.st_dev, existing.st_ino) if is_stored else None


def _folders(path: str | Path) -> list[object]:
    """The folders that the path lies in, by its name and through links."""
    return [_identity(folder) for inner in (Path(path).absolute(), _resolved(path)) for folder in inner.parents]


def _resolved(path: str | Path) -> Path:
    from surefoot.data.reading.files import resolve_links

    try:
        return resolve_links(path)
    except (OSError, ValueError):
        return Path(path).absolute()
