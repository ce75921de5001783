"""The build's scripts import each other by their file names, which pytest's search for doctests cannot."""

collect_ignore_glob = ["*.py"]
