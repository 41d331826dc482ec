"""Prometheus metrics: one registry for the process, and the metrics that every RPC has."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from socketserver import ThreadingMixIn
from threading import Thread
from typing import cast
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server
from wsgiref.types import WSGIApplication

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, make_wsgi_app  # pyright: ignore[reportUnknownVariableType] - half typed

STOP_POLL_SECONDS = 0.05

registry = CollectorRegistry()
ProcessCollector(registry=registry)

RPC_SECONDS_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60)


def counter(name: str, documentation: str, labels: Sequence[str] = ()) -> Counter:
    """Creates a counter in the process's registry; `name` without the `_total` that Prometheus adds."""
    return Counter(name, documentation, labels, registry=registry)


def gauge(name: str, documentation: str, labels: Sequence[str] = ()) -> Gauge:
    """Creates a gauge in the process's registry."""
    return Gauge(name, documentation, labels, registry=registry)


def histogram(
    name: str, documentation: str, labels: Sequence[str] = (), buckets: Sequence[float] = RPC_SECONDS_BUCKETS
) -> Histogram:
    """Creates a histogram in the process's registry; buckets are in the unit of the name."""
    return Histogram(name, documentation, labels, buckets=buckets, registry=registry)


rpc_seconds = histogram("wavepool_rpc_seconds", "Time to serve an RPC, streams to their end.", ("method", "code"))
rpcs_in_flight = gauge("wavepool_rpcs_in_flight", "RPCs being served.", ("method",))


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _QuietHandler(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        del format, args


def serve_metrics(host: str, port: int) -> tuple[int, Callable[[], None]]:
    """Serves the registry over HTTP; gives the bound port and a function that stops serving.

    This is not prometheus_client's own server, which takes half a second to stop.
    """
    server = make_server(host, port, cast("WSGIApplication", make_wsgi_app(registry)), _Server, _QuietHandler)
    thread = Thread(target=server.serve_forever, args=(STOP_POLL_SECONDS,), name="metrics", daemon=True)
    thread.start()

    def stop() -> None:
        server.shutdown()
        server.server_close()
        thread.join()

    return server.server_port, stop
