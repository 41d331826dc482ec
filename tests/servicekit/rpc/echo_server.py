"""A server of ours that answers with its port: `echo_server.py PORT`."""

from __future__ import annotations

import asyncio
import sys

import grpc

from servicekit.rpc.server import OPTIONS


async def answer(request: bytes, context: object) -> bytes:
    del request, context
    return sys.argv[1].encode()


async def main() -> None:
    handler = grpc.unary_unary_rpc_method_handler(answer)
    server = grpc.aio.server(options=OPTIONS)
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("wavepool.Echo", {"Port": handler}),))
    server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main())
