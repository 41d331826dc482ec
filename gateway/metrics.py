"""The gateway's Prometheus metrics."""

from __future__ import annotations

from servicekit.metrics import counter, gauge, histogram

request_seconds = histogram(
    "wavepool_gateway_request_seconds", "Time to answer an HTTP request, streams to their end.", ("route", "status")
)
streams_open = gauge("wavepool_gateway_streams_open", "Event streams that clients hold open.")
tunnels_open = gauge("wavepool_gateway_tunnels_open", "SSH connections to reservations that clients hold open.")
tunnel_bytes = counter(
    "wavepool_gateway_tunnel_bytes", "Bytes that went through SSH connections to reservations, both ways.", ("user",)
)
clients_dropped = counter("wavepool_gateway_clients_dropped", "Clients dropped because they read too slowly.")
