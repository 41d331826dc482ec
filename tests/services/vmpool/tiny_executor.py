"""A minimal real executor process: it answers GetCapabilities as its environment says.

TINY_EXIT: end at once with this status. TINY_RUNS: runs in flight.
TINY_HOST: the address to listen on.
"""

from __future__ import annotations

import asyncio
import os
import sys

import grpc
from wavepool.executor.v1 import executor_pb2 as pb


async def get_capabilities(request: pb.GetCapabilitiesRequest, context: object) -> pb.GetCapabilitiesResponse:
    del request, context
    return pb.GetCapabilitiesResponse(
        device="cpu",
        device_title="Tiny",
        architecture="x86_64",
        compute_units=2,
        memory_mib=1024,
        sandbox="none",
        runs_in_flight=int(os.environ.get("TINY_RUNS", "0")),
    )


async def main() -> None:
    handler = grpc.unary_unary_rpc_method_handler(
        get_capabilities,
        request_deserializer=pb.GetCapabilitiesRequest.FromString,
        response_serializer=pb.GetCapabilitiesResponse.SerializeToString,
    )
    service = grpc.method_handlers_generic_handler("wavepool.executor.v1.ExecutorService", {"GetCapabilities": handler})
    server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
    server.add_generic_rpc_handlers((service,))
    server.add_insecure_port(f"{os.environ.get('TINY_HOST', '127.0.0.1')}:{os.environ['EXECUTOR_PORT']}")
    await server.start()
    await server.wait_for_termination()


if __name__ == "__main__":
    if "TINY_EXIT" in os.environ:
        sys.exit(int(os.environ["TINY_EXIT"]))
    asyncio.run(main())
