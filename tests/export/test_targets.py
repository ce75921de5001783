"""The table of export targets: every row is complete, and what a writer makes is what its row lists."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import ROOT
from tests.export.models import ranker

from surefoot.errors import ArgumentError
from surefoot.export.replay import PLUGINS
from surefoot.export.settings import ExportSettings, export_files
from surefoot.export.targets import ltr_plugin
from surefoot.export.targets.table import TARGETS, UnsetTreatment, find_target

DEPLOY = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_row_is_complete(target) -> None:
    assert callable(import_module(f"surefoot.export.targets.{target.writer}").write)
    assert len({*target.all_companions}) == len(target.all_companions)
    versions = [since for since, _ in target.unset]
    assert versions == sorted(versions, reverse=True), "the newest comes first"
    assert versions[-1] == (), "the last rule is for all older versions"
    assert target.advice or {unset for _, unset in target.unset} == {UnsetTreatment.by_split}
    assert f"| `{target.name}` | {target.description} |" in DEPLOY


def test_every_writer_has_a_row() -> None:
    modules = {path.stem for path in Path(ltr_plugin.__file__).parent.glob("*.py")} - {"__init__", "table"}
    assert modules == {target.writer for target in TARGETS.values()}


def test_the_script_asks_known_targets() -> None:
    assert set(PLUGINS) <= set(TARGETS)


@pytest.mark.parametrize(
    ("to", "version", "unset"),
    [
        ("elasticsearch-plugin", None, UnsetTreatment.by_split),
        ("elasticsearch-plugin", "1.5.9", UnsetTreatment.by_split),
        ("elasticsearch-plugin", "1.5", UnsetTreatment.zero),
        ("opensearch", None, UnsetTreatment.by_split),
        ("opensearch", "3.8.1", UnsetTreatment.by_split),
        ("opensearch", "3.7.9", UnsetTreatment.right),
        ("opensearch", "3.2", UnsetTreatment.right),
        ("opensearch", "2", UnsetTreatment.zero),
        ("solr", "9.1.9", UnsetTreatment.zero),
        ("solr", "10", UnsetTreatment.by_split),
        ("ranklib", None, UnsetTreatment.zero),
    ],
)
def test_what_versions_do_with_an_unset_feature(to: str, version: str | None, unset: UnsetTreatment) -> None:
    assert ExportSettings.parse(to, "nan", "m", version).unset is unset


@pytest.mark.parametrize("name", ["lucene", "", None, 5, ["solr"]])
def test_an_unknown_target_is_an_error(name: Any) -> None:
    for refuse in (find_target, export_files):
        with pytest.raises(ArgumentError, match="Known are: elasticsearch"):
            refuse(name)


@pytest.mark.parametrize("files", [("features.json", "upload.json", "more.json"), ("features.json",)])
def test_files_that_the_table_does_not_list_are_an_error(files: tuple[str, ...], tmp_path: Path, monkeypatch) -> None:
    wrong = dict.fromkeys(files, b"")
    write = ltr_plugin.write

    def changed(trees, settings):
        model = write(trees, settings)
        object.__setattr__(model, "companions", wrong)
        return model

    monkeypatch.setattr(ltr_plugin, "write", changed)
    with pytest.raises(ValueError, match=r"export/targets/table\.py lists"):
        ranker("lightgbm", False).export(tmp_path / "es", to="elasticsearch-plugin", missing="zero")
    assert not list(tmp_path.iterdir())
