"""ssh's ProxyCommand in tests: carries stdin and stdout over Connect or OpenTunnel.

`proxy_command.py connect PORT TOKEN SESSION FENCING` or `proxy_command.py tunnel TARGET TOKEN_FILE LEASE SESSION`
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
from wavepool.executor.v1 import session_pb2, session_pb2_grpc
from wavepool.vmpool.v1 import vmpool_pb2, vmpool_pb2_grpc

from servicekit.rpc.credentials import ServiceCredentials
from servicekit.service_token import ServiceToken


def connect(port: str, token: str, session_id: str, fencing_token: str) -> Iterator[Any]:
    stub = session_pb2_grpc.SessionServiceStub(grpc.insecure_channel(f"127.0.0.1:{port}"))
    name = session_pb2.SessionName(session_id=session_id, fencing_token=int(fencing_token))
    requests = with_input(session_pb2.ConnectRequest, name)
    return stub.Connect(requests, metadata=(("authorization", f"Bearer {token}"),))


def tunnel(target: str, token_file: str, lease_id: str, session_id: str) -> Iterator[Any]:
    stub = vmpool_pb2_grpc.VmPoolServiceStub(grpc.insecure_channel(target))
    metadata = ServiceCredentials("gateway", ServiceToken(Path(token_file))).metadata()
    opened = vmpool_pb2.TunnelTarget(lease_id=lease_id, session_id=session_id)
    return stub.OpenTunnel(with_input(vmpool_pb2.OpenTunnelRequest, opened), metadata=metadata)


def with_input(request: Any, opened: Any) -> Iterator[Any]:
    yield request(open=opened)
    while chunk := os.read(0, 1 << 16):
        yield request(data=chunk)


def main() -> int:
    way, *words = sys.argv[1:]
    try:
        for response in {"connect": connect, "tunnel": tunnel}[way](*words):
            if not response.data:
                return 0
            view = memoryview(response.data)
            while view:
                view = view[os.write(1, view) :]
    except grpc.RpcError as error:
        sys.stderr.write(f"{error.code().name}: {error.details()}\n")  # pyright: ignore - grpc's types lack it
        return 1
    return 0


if __name__ == "__main__":
    status = main()
    sys.stderr.flush()
    # Its other thread still reads.
    os._exit(status)
