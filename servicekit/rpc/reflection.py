"""Reflection for clients of both versions, which have the same messages: the library serves v1alpha alone."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, text_format
from grpc_reflection.v1alpha import reflection, reflection_pb2

SERVICE_NAMES = ("grpc.reflection.v1.ServerReflection", "grpc.reflection.v1alpha.ServerReflection")


def serve_reflection(names: Iterable[str], server: grpc.aio.Server) -> None:
    """Adds reflection of these services, and of itself, to a server."""
    servicer: Any = reflection.aio.ReflectionServicer([*names, *SERVICE_NAMES], _described())
    handler: Any = grpc.stream_stream_rpc_method_handler(
        servicer.ServerReflectionInfo,
        reflection_pb2.ServerReflectionRequest.FromString,
        reflection_pb2.ServerReflectionResponse.SerializeToString,
    )
    handlers = {"ServerReflectionInfo": handler}
    server.add_generic_rpc_handlers(
        tuple(grpc.method_handlers_generic_handler(name, handlers) for name in SERVICE_NAMES)
    )


def _described() -> Any:  # noqa: ANN401 - protobuf has no type for it
    """The pool of all descriptors, with the new version's, which are the old one's under another name."""
    pool: Any = descriptor_pool.Default()
    old, new = descriptor_pb2.FileDescriptorProto(), descriptor_pb2.FileDescriptorProto()
    reflection_pb2.DESCRIPTOR.CopyToProto(old)
    text_format.Parse(text_format.MessageToString(old).replace("v1alpha", "v1"), new)
    # Adding the same file again changes nothing.
    pool.AddSerializedFile(new.SerializeToString())
    return pool
