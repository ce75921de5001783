"""Writes the JSON Schemas of results into the wheel. They are made from the types of the data: no checkout has them."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class SchemaFiles(BuildHookInterface):  # type: ignore[type-arg]
    """A file for each kind of result; the types need no library, as none is there while a wheel is built."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the files and name them to the wheel; an editable installation makes its schemas from the types."""
        if version == "editable":
            return
        sys.path.insert(0, str(Path(self.root, "src")))
        from surefoot.report.escapes import to_json
        from surefoot.report.kinds import schema_files

        self.made = TemporaryDirectory()
        for name, schema in schema_files().items():
            file = Path(self.made.name, name.replace("/", "-"))
            file.write_text(to_json(schema), encoding="utf-8")
            build_data["force_include"][str(file)] = f"surefoot/{name}"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files that were made."""
        if version != "editable":
            self.made.cleanup()
