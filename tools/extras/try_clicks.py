"""The extra `clicks`: a log is made, read with DuckDB, and turned into features."""

import surefoot as sf
from surefoot.clicks.feature_pipeline import feature_table
from surefoot.clicks.impressions import Satisfaction
from surefoot.clicks.layouts.reading import Reading

sf.write_log(sf.generate_log(users=40, queries=20), "clicks.log")
table = feature_table("clicks.log", "features", Reading("yandex2014"), Satisfaction((30.0,)))
print(f"{table.counts['lists']} lists of a log became {len(table.names)} features")
