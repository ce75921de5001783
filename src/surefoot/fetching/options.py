"""What can be chosen of a fetch, for the command line, which imports nothing heavy to show its help."""

from __future__ import annotations

from enum import StrEnum


class ServiceName(StrEnum):
    """What can be asked."""

    elasticsearch = "elasticsearch"
    opensearch = "opensearch"
    solr = "solr"


class RunScores(StrEnum):
    """Where a run's scores come from."""

    service = "service"
    position = "position"


SERVICES, SCORES = tuple(map(str, ServiceName)), tuple(map(str, RunScores))
PLACEHOLDER = "{{query}}"
DEPTH = 100
PAGE_SIZE = 1000
RETRIES = 5
TIMEOUT = 30.0
