"""`evidence serve`: the built site on localhost."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from evidence.library.errors import InputError


def register(app: typer.Typer) -> None:
    app.command("serve")(serve)


def serve(port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free port.")] = 8000) -> None:
    """Serve the site that was built last, on this machine only, until interrupted."""
    from functools import partial
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    from evidence.library.project import find_project

    project = find_project()
    if not (project.site / "index.html").exists():
        raise InputError("there is no built site", where=project.relative(project.site), mend="evidence build")
    handler = partial(SimpleHTTPRequestHandler, directory=str(project.site))
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), handler)
    except OSError as error:
        raise InputError(f"port {port}: {error.strerror}", where="--port", mend="take another, or 0") from error
    print(f"http://127.0.0.1:{server.server_port}/", file=sys.stderr, flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
    finally:
        server.server_close()
