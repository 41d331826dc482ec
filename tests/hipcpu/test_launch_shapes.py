"""The block shapes that the host side launches, read from its optimised IR."""

from __future__ import annotations

from hipcpu.ir.launch_shapes import launch_shapes
from hipcpu.ir.module import Module

_PUSH = "  %c = call i32 @__hipPushCallConfiguration(i64 %grid, i32 1, i64 {xy}, i32 {z}, i64 0, ptr null)"
_LAUNCH = (
    "  %l = call i32 @hipLaunchKernel(ptr nonnull @_Z1kPf, i64 %g, i32 1, i64 %xy, i32 1, ptr %a, i64 0, ptr null)"
)
_STUB_CALL = "  call void @_Z16__device_stub__kPf(ptr %p)"
_16_BY_8 = 16 | 8 << 32


def _host(*lines: str, before: str = "") -> Module:
    return Module.from_text("\n".join([before, "define void @solution(i64 %n) {", *lines, "  ret void", "}"]))


def test_constant_block_is_seen_where_the_stub_is_inlined_and_where_it_is_called() -> None:
    push = _PUSH.format(xy=_16_BY_8, z=2)

    assert launch_shapes(_host(push, _LAUNCH)) == {"_Z1kPf": ((16, 8, 2),)}
    assert launch_shapes(_host(push, _STUB_CALL)) == {"_Z1kPf": ((16, 8, 2),)}


def test_kernel_with_a_launch_of_unknown_shape_has_none() -> None:
    known, unknown = _PUSH.format(xy=_16_BY_8, z=1), _PUSH.format(xy="%n", z=1)

    assert launch_shapes(_host(known, _LAUNCH, unknown, _LAUNCH)) == {}


def test_many_shapes_are_as_good_as_none() -> None:
    lines = [line for x in (32, 64, 128) for line in (_PUSH.format(xy=x | 1 << 32, z=1), _LAUNCH)]

    assert launch_shapes(_host(*lines[:4])) == {"_Z1kPf": ((32, 1, 1), (64, 1, 1))}
    assert launch_shapes(_host(*lines)) == {}


def test_launch_in_the_stub_itself_says_nothing() -> None:
    stub = f"define void @_Z16__device_stub__kPf(ptr %p) {{\n{_LAUNCH}\n}}"

    assert launch_shapes(_host(_PUSH.format(xy=64 | 1 << 32, z=1), _STUB_CALL, before=stub)) == {
        "_Z1kPf": ((64, 1, 1),)
    }


def test_block_that_no_device_runs_is_no_shape() -> None:
    assert launch_shapes(_host(_PUSH.format(xy=2048 | 1 << 32, z=1), _LAUNCH)) == {}
