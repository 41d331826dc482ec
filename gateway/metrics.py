"""The gateway's Prometheus metrics."""

from __future__ import annotations

from servicekit.metrics import counter, gauge, histogram

request_seconds = histogram(
    "wavepool_gateway_request_seconds",
    "Time to answer an HTTP request, streams to their end.",
    ("method", "route", "status"),
)
streams_open = gauge("wavepool_gateway_streams_open", "Event streams that clients hold open.")
tunnels_open = gauge("wavepool_gateway_tunnels_open", "SSH connections to reservations that clients hold open.")
tunnel_bytes = counter(
    "wavepool_gateway_tunnel_bytes", "Bytes that went through SSH connections to reservations, both ways.", ("user",)
)
streams_ended = counter(
    "wavepool_gateway_streams_ended",
    "Event streams that are over: `complete`; `left` by the client; `moved`, as this gateway ends; `dropped`, as the "
    "client read too slowly; or `broken` by an error.",
    ("how",),
)
for _how in ("complete", "left", "moved", "dropped", "broken"):
    # A rate does not see how a series begins.
    streams_ended.labels(_how)
