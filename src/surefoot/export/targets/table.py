"""The one table of export targets: names, files, versions, missing features, scores below 0.

A writer module in this folder makes each target's model. Importing the table loads none of them, nor NumPy, so that the
command line can show it at once. docs/extend/export-target.md says how to add a target.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from surefoot.errors import ArgumentError, did_you_mean, shortened

Version: TypeAlias = tuple[int, ...]  # () is the newest

ALWAYS_WRITTEN = ("rows.json", "replay.py", "md")  # beside every model, by what follows its stem


class UnsetTreatment(Enum):
    """Where a target sends a feature that is not set."""

    by_split = "goes where each split says"
    zero = "counts as 0"
    right = "goes to the right at every split"


@dataclass(frozen=True, kw_only=True)
class ExportTarget:
    """A search engine, or a format, that models are exported to.

    `unset` says what it does with a feature that is not set, as pairs of the first version that does so and what it
    does, the newest first; () is the first of all versions. Where there is more than one, the user may give a version.
    """

    name: str
    writer: str  # the module of this folder whose `write` makes the model
    title: str  # as messages name it
    description: str  # as docs/deploy.md has it
    companions: tuple[str, ...]  # the files that the writer makes beside the model, by what follows its stem
    unset: tuple[tuple[Version, UnsetTreatment], ...]
    ending: str = ".json"  # of the model's file
    advice: str = ""  # what to do where it cannot send an unset feature where the model sends it
    version_note: str = ""  # what to say where no version is given
    negative_scores: bool = False  # whether scores may be below 0, which Lucene forbids

    @property
    def has_versions(self) -> bool:
        """Whether its versions behave differently."""
        return len(self.unset) > 1

    @property
    def all_companions(self) -> tuple[str, ...]:
        """Every file beside the model, by what follows its stem."""
        return (*self.companions, *ALWAYS_WRITTEN)

    def unset_in(self, version: Version) -> UnsetTreatment:
        """What a version of it does with a feature that is not set.

        >>> find_target("solr").unset_in((9, 1)), find_target("solr").unset_in(())
        (<UnsetTreatment.zero: 'counts as 0'>, <UnsetTreatment.by_split: 'goes where each split says'>)
        """
        return next(unset for since, unset in self.unset if not version or since <= version)


TARGETS = {
    target.name: target
    for target in (
        ExportTarget(
            name="elasticsearch-plugin",
            writer="ltr_plugin",
            title="the Elasticsearch plugin",
            description="the Learning to Rank plugin of Elasticsearch, `model/xgboost+json`",
            companions=("features.json", "upload.json"),
            unset=(((1, 5, 9), UnsetTreatment.by_split), ((), UnsetTreatment.zero)),
            advice="upgrade the plugin to 1.5.9",
            version_note="Before 1.5.9, the plugin treats an unset feature as 0, whatever the model says.",
        ),
        ExportTarget(
            name="opensearch",
            writer="ltr_plugin",
            title="OpenSearch",
            description="the one of OpenSearch, the same format",
            companions=("features.json", "upload.json"),
            unset=(((3, 8), UnsetTreatment.by_split), ((3, 2), UnsetTreatment.right), ((), UnsetTreatment.zero)),
            advice="export to ranklib, where it counts as 0",
            version_note=(
                "OpenSearch 3.2 to 3.7 sends every unset feature to the right, whatever the model says. Give "
                "your version, such as --target-version 3.4, and the export takes this into account."
            ),
        ),
        ExportTarget(
            name="ranklib",
            writer="ranklib",
            title="RankLib's format",
            description="`model/ranklib` for either plugin, RankLib's XML",
            ending=".xml",
            companions=("features.json", "upload.json"),
            unset=(((), UnsetTreatment.zero),),
            advice="train again on data where it is 0",
        ),
        ExportTarget(
            name="elasticsearch-native",
            writer="elastic",
            title="Elastic",
            description="Elastic's own Learning To Rank (8.12 on)",
            companions=("features.json", "upload.json"),
            unset=(((), UnsetTreatment.by_split),),
        ),
        ExportTarget(
            name="solr",
            writer="solr",
            title="Solr",
            description="Solr's `MultipleAdditiveTreesModel`",
            companions=("features.json",),
            unset=(((9, 2), UnsetTreatment.by_split), ((), UnsetTreatment.zero)),
            negative_scores=True,
            advice="upgrade Solr to 9.2, which knows missing features",
        ),
        ExportTarget(
            name="vespa",
            writer="vespa",
            title="Vespa (as NaN)",
            description="Vespa's importer of LightGBM models",
            companions=("profile",),
            unset=(((), UnsetTreatment.by_split),),
            negative_scores=True,
        ),
        ExportTarget(
            name="onnx",
            writer="onnx",
            title="ONNX (as NaN)",
            description='one `TreeEnsembleRegressor` (`pip install "surefoot[learn,onnx]"`)',
            ending=".onnx",
            companions=("features.json",),
            unset=(((), UnsetTreatment.by_split),),
            negative_scores=True,
        ),
    )
}


def find_target(name: Any) -> ExportTarget:
    """A target by name; an unknown one is an error."""
    if name in ("elasticsearch", "elastic"):
        raise ArgumentError(
            "Elasticsearch has two kinds of Learning to Rank; write elasticsearch-plugin for that of the plugin, or "
            "elasticsearch-native for Elastic's own (8.12 on)"
        )
    if not isinstance(name, str) or name not in TARGETS:
        hint = did_you_mean(name, TARGETS) or "."
        raise ArgumentError(f"cannot export to {shortened(name)}{hint} Known are: {', '.join(TARGETS)}")
    return TARGETS[name]
