import subprocess
import sys
from pathlib import Path

import pytest
from tools.check_extras import PINNED, examples


@pytest.mark.parametrize("extra", PINNED)
def test_examples_of_extras_run(extra: str, tmp_path: Path) -> None:
    """Here in the environment of the tests; `make package-extras` runs each where nothing else is installed."""
    line = [sys.executable, str(examples()[extra])]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
