"""A real HTTP server that answers as GitHub does, on this machine: lists of keys, and its API for teams."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

HttpAnswer = tuple[int, dict[str, str], bytes]


@dataclass
class LocalGithub:
    """`keys` has the lists by name, `api` the status and the document by path; `answer` stands for all if it is set."""

    url: str = ""
    keys: dict[str, str] = field(default_factory=dict[str, str])
    api: dict[str, tuple[int, Any]] = field(default_factory=dict[str, tuple[int, Any]])
    answer: HttpAnswer | None = None
    is_silent: bool = False
    drips: bool = False
    """Sends one byte of the answer, and then nothing."""
    asked: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])
    """Paths with the statuses that were answered."""
    authorizations: list[str] = field(default_factory=list[str])
    ended: threading.Event = field(default_factory=threading.Event)

    @property
    def host(self) -> str:
        return self.url.removeprefix("http://")

    def answer_to(self, path: str, etag: str) -> HttpAnswer:
        if self.answer is not None:
            return self.answer
        if path.startswith("/api/"):
            status, document = self.api.get(path, (404, {"message": "Not Found"}))
            return status, {}, b"" if document is None else json.dumps(document).encode()
        name = path.removeprefix("/").removesuffix(".keys")
        if name not in self.keys:
            return 404, {}, b"Not Found"
        body = self.keys[name].encode()
        current = f'W/"{hashlib.sha256(body).hexdigest()}"'
        return (304, {"ETag": current}, b"") if etag == current else (200, {"ETag": current}, body)


@contextmanager
def local_github() -> Generator[LocalGithub]:
    github = LocalGithub()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            github.authorizations.append(self.headers.get("Authorization", ""))
            if github.is_silent:
                github.ended.wait(20)
                return
            status, headers, body = github.answer_to(self.path, self.headers.get("If-None-Match", ""))
            github.asked.append((self.path, status))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if github.drips:
                self.wfile.write(body[:1])
                self.wfile.flush()
                github.ended.wait(20)
                return
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - its name there
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    github.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield github
    finally:
        github.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
