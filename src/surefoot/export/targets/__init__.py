"""One writer for each search engine."""
