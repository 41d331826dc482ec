"""ssh's ProxyCommand in tests: carries stdin and stdout over OpenTunnel.

`tunnel_proxy.py TARGET TOKEN_FILE LEASE SESSION`
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import grpc
from wavepool.vmpool.v1 import vmpool_pb2, vmpool_pb2_grpc

from servicekit.rpc.credentials import ServiceCredentials
from servicekit.service_token import ServiceToken

if TYPE_CHECKING:
    from collections.abc import Iterator


def requests(lease_id: str, session_id: str) -> Iterator[vmpool_pb2.OpenTunnelRequest]:
    target = vmpool_pb2.TunnelTarget(lease_id=lease_id, session_id=session_id)
    yield vmpool_pb2.OpenTunnelRequest(open=target)
    while chunk := os.read(0, 1 << 16):
        yield vmpool_pb2.OpenTunnelRequest(data=chunk)


def main() -> int:
    target, token_file, lease_id, session_id = sys.argv[1:]
    stub = vmpool_pb2_grpc.VmPoolServiceStub(grpc.insecure_channel(target))
    metadata = ServiceCredentials("gateway", ServiceToken(Path(token_file))).metadata()
    try:
        for response in stub.OpenTunnel(requests(lease_id, session_id), metadata=metadata):
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
