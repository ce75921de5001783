"""`surefoot serve`: a saved re-ranker behind HTTP, bounded in whatever a client can make large or slow."""
