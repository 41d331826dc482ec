"""Thread and block indices as parameters: what stands in for the calls of `thread_index.h` in a kernel's IR."""

from __future__ import annotations

import re

# Fields of BlockIndex that are the same for all threads of a block, in that struct's order after the thread's own.
UNIFORM = (
    "block_x",
    "block_y",
    "block_z",
    "block_dim_x",
    "block_dim_y",
    "block_dim_z",
    "grid_dim_x",
    "grid_dim_y",
    "grid_dim_z",
)
THREAD = ("thread_x", "thread_y", "thread_z", "lane")

_CALL = re.compile(rf"^\s*(%[-\w.$]+) = .*call .*@__wp_({'|'.join((*UNIFORM, *THREAD))})\(\).*$")
_LOCAL = re.compile(r'%(?:"[^"]*"|[-\w$.]+)')


def parameter(index: str) -> str:
    """The parameter that holds an index."""
    return f"%wp.{index}"


def with_index_parameters(body: tuple[str, ...]) -> tuple[str, ...]:
    """The body with every call of an index function replaced by the parameter that holds the index."""
    renamed: dict[str, str] = {}
    kept: list[str] = []
    for line in body:
        if match := _CALL.match(line):
            renamed[match[1]] = parameter(match[2])
        else:
            kept.append(line)
    return tuple(_LOCAL.sub(lambda match: renamed.get(match[0], match[0]), line) for line in kept)


def declarations() -> str:
    """All index parameters of a region function, as they are declared."""
    return ", ".join(f"i32 {parameter(index)}" for index in (*UNIFORM, *THREAD))
