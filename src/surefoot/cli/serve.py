"""`surefoot serve`: answer re-ranking requests over HTTP with a personal model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from surefoot.cli import shared_options as shared
from surefoot.cli.option import argument, option
from surefoot.errors import visible


def serve(
    model: Annotated[Path, argument("MODEL", "Folder that surefoot personalize --save wrote.")],
    port: Annotated[int, option("--port", "0 takes a free one.", min=0, max=65535)] = 8080,
    host: Annotated[str, option("--host", "Others need a token.", "ADDR")] = "127.0.0.1",
    allow_updates: Annotated[bool, option("--allow-updates", "Take events at POST /update, and keep them.")] = False,
    max_body: Annotated[int, option("--max-body", "Bytes of a request.", min=1024)] = 1 << 20,
    timeout: Annotated[float, option("--timeout", "Seconds for a request.", min=0.1)] = 5.0,
    queue: Annotated[int, option("--queue", "Requests that may wait.", min=1)] = 64,
    quiet: shared.Quiet = False,
) -> None:
    """Answer re-ranking requests over HTTP with a personal ranker.

    POST /rerank takes user, query, results and time; POST /update takes events; GET /health says that it works. All is
    JSON. It prints a request to try when it starts. If the environment has SUREFOOT_TOKEN, requests must send it.

    **Example:** `surefoot serve model/ --port 8080 --allow-updates`
    """
    from surefoot.personal.service.service_settings import ServiceSettings
    from surefoot.runtime import library

    settings = ServiceSettings.checked(
        host, port=port, allow_updates=allow_updates, body=max_body, seconds=timeout, queue=queue
    )
    for name in ("starlette", "uvicorn"):
        library(name, "serve", "surefoot serve")
    from surefoot.personal.service.server import serve as answer

    def started(address: str, example: dict[str, Any]) -> None:
        if not quiet:
            updates = "takes updates" if allow_updates else "takes no updates"
            token = "" if settings.token is None else ' -H "Authorization: Bearer $SUREFOOT_TOKEN"'
            typer.echo(visible(f"Serving {model} at {address}; it {updates}. Stop it with Ctrl+C."))
            typer.echo("What it takes and answers: GET /openapi.json. Try it:")
            typer.echo(f"  curl {address}/rerank{token} -H 'Content-Type: application/json' -d '{json.dumps(example)}'")
        import sys

        sys.stdout.flush()

    answer(model, settings, started)
