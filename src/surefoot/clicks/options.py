"""How click logs are read by default; free of heavy imports, for the command line."""

SATISFIED = (30.0,)  # seconds of dwell from which a click satisfied (Bennett et al., 2015)
GRADES = (50.0, 400.0)  # of the 2014 challenge, which counts in time units
BACKENDS = ("duckdb", "spark")
MEMORY = "2GB"  # what DuckDB may use; beyond it, it writes to disk
