"""A real HTTP server that receives what channels post, and answers as a test says."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Posted:
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class WebReceiver:
    """`statuses` are the next answers, then 200; while `is_silent` it takes requests and answers none."""

    url: str = ""
    posted: list[Posted] = field(default_factory=list)
    statuses: list[int] = field(default_factory=list)
    is_silent: bool = False
    arrived: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    ended: threading.Event = field(default_factory=threading.Event)

    def next(self, seconds: float = 60) -> Posted:
        """Waits for the next post."""
        assert self.arrived.acquire(timeout=seconds), "nothing was posted"
        return self.posted[-1]


@contextmanager
def web_receiver() -> Generator[WebReceiver]:
    receiver = WebReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.posted.append(Posted(self.path, dict(self.headers.items()), body))
            receiver.arrived.release()
            if receiver.is_silent:
                receiver.ended.wait(20)
                return
            status = receiver.statuses.pop(0) if receiver.statuses else 200
            self.send_response(status)
            self.send_header("Location", f"{receiver.url}/elsewhere")
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.ended.set()
        server.shutdown()
        server.server_close()
        thread.join()
