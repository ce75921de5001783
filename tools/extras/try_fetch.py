"""The extra `fetch`: a run from a search service, which here answers on this machine."""

import json
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import surefoot as sf


class Service(BaseHTTPRequestHandler):
    """Answers every search with one document, as OpenSearch would."""

    def do_POST(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        hits = {"hits": [{"_id": "d1", "_score": 1.5}]}
        answer = {"timed_out": False, "_shards": {"total": 1, "failed": 0}, "hits": hits}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode())


with HTTPServer(("127.0.0.1", 0), Service) as server:
    Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_port}/shop"
    run = sf.fetch("opensearch", url, {"q1": "goat"}, {"query": {"match": {"title": "{{query}}"}}}, "new.run")
    server.shutdown()
print(f"{run!r} fetched")
