"""The command line, as its own tests run it."""

from tests.cli.conftest import surefoot

__all__ = ["surefoot"]
