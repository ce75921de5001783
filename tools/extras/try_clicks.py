"""The extra `clicks`: a log is made, read with DuckDB, and turned into features."""

from surefoot.clicks.feature_pipeline import feature_table
from surefoot.clicks.generator import generate_log, write_log
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.layouts.layout import ReadingSettings

write_log(generate_log(users=40, queries=20), "clicks.log")
table = feature_table("clicks.log", "features", ReadingSettings("yandex2014"), Satisfaction((30.0,)))
print(f"{table.counts['lists']} lists of a log became {len(table.names)} features")
