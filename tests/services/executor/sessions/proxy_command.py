"""ssh's ProxyCommand in tests: carries stdin and stdout over Connect. `proxy_command.py PORT TOKEN SESSION FENCING`."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import grpc
from wavepool.executor.v1 import session_pb2, session_pb2_grpc

if TYPE_CHECKING:
    from collections.abc import Iterator


def requests(session_id: str, fencing_token: int) -> Iterator[session_pb2.ConnectRequest]:
    yield session_pb2.ConnectRequest(open=session_pb2.SessionName(session_id=session_id, fencing_token=fencing_token))
    while chunk := os.read(0, 1 << 16):
        yield session_pb2.ConnectRequest(data=chunk)


def main() -> int:
    port, token, session_id, fencing_token = sys.argv[1:]
    stub = session_pb2_grpc.SessionServiceStub(grpc.insecure_channel(f"127.0.0.1:{port}"))
    metadata = (("authorization", f"Bearer {token}"),)
    try:
        for response in stub.Connect(requests(session_id, int(fencing_token)), metadata=metadata):
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
