"""Runs fetched from a search service: every query asked once, its answer checked, and all of it resumable.

`services.py` says how Elasticsearch, OpenSearch and Solr are asked and what their answers mean; `client.py` speaks
HTTP (httpx lives there alone), takes secrets from environment variables, and keeps them out of messages;
`fetched_run.py` keeps the answers of a fetch until all are there.
"""
