"""The choices that an export offers by name, and its defaults.

It imports nothing heavy, so that the command line can show all of it at once.
"""

from surefoot.export.targets import table

MISSING = ("zero", "nan", "never")  # what a feature that is not set means
ROWS = 100
TARGETS = tuple(table.TARGETS)
