"""How click logs are read by default; free of heavy imports, for the command line."""

SATISFIED = (30.0,)  # seconds of dwell from which a click satisfied (Bennett et al., 2015)
GRADE_DWELLS = (50.0, 400.0)  # from which a click has grade 1 and 2, in the time units of the 2014 challenge
BACKENDS = ("duckdb", "spark")
MEMORY = "2GB"  # what DuckDB may use; beyond it, it writes to disk
# Layouts that generated logs are written in; where such a log is a folder, its files.
GENERATED_FILES: dict[str, tuple[str, ...]] = {
    "yandex2014": (), "ubi": ("ubi_queries.jsonl", "ubi_events.jsonl"), "metarank": (), "table": (),
}  # fmt: skip
