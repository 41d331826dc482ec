from __future__ import annotations

import pytest

from hipcpu.ir.instruction import Instruction
from hipcpu.sanitizer.instructions import How, MemoryAccess, Operation, accesses_of, size_of

FLOAT = size_of("float")


@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        (
            "  %0 = load float, ptr %p, align 4, !dbg !57, !tbaa !58",
            [MemoryAccess(Operation.READ, "%p", FLOAT, 4)],
        ),
        (
            "  %0 = load volatile float, ptr @shared, align 4",
            [MemoryAccess(Operation.READ, "@shared", FLOAT, 4, How.VOLATILE)],
        ),
        (
            "  %0 = load atomic float, ptr %p seq_cst, align 4",
            [MemoryAccess(Operation.READ, "%p", FLOAT, 4, How.ATOMIC)],
        ),
        (
            "  store <2 x float> <float 1.0, float 2.0>, ptr %p, align 8",
            [MemoryAccess(Operation.WRITE, "%p", size_of("<2 x float>"), 8)],
        ),
        (
            "  %0 = load float, ptr getelementptr inbounds ([4 x float], ptr @s, i64 0, i64 1), align 4",
            [MemoryAccess(Operation.READ, "getelementptr inbounds ([4 x float], ptr @s, i64 0, i64 1)", FLOAT, 4)],
        ),
        (
            "  %5 = atomicrmw fadd ptr %out, float %v monotonic, align 4",
            [MemoryAccess(Operation.UPDATE, "%out", FLOAT, 4, How.ATOMIC)],
        ),
        (
            "  %5 = cmpxchg weak ptr %p, i32 %a, i32 %b acq_rel monotonic, align 4",
            [MemoryAccess(Operation.UPDATE, "%p", size_of("i32"), 4, How.ATOMIC, fences=True)],
        ),
        (
            "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %to, ptr nonnull align 4 %from, i64 12, i1 false), !dbg !1",
            [MemoryAccess(Operation.READ, "%from", "12"), MemoryAccess(Operation.WRITE, "%to", "12")],
        ),
        (
            "  call void @llvm.memset.p0.i64(ptr align 8 %p, i8 0, i64 %n, i1 false)",
            [MemoryAccess(Operation.WRITE, "%p", "%n")],
        ),
        ("  fence seq_cst, !dbg !127", [MemoryAccess(Operation.FENCE)]),
        ("  %x = getelementptr float, ptr %p, i64 1", []),
        ("  call void @__wp_block_barrier(i32 0, i32 7)", []),
        ("  br i1 %c, label %a, label %b", []),
        ("for.body:                ; preds = %entry", []),
    ],
)
def test_an_instruction_is_read_for_what_it_does_to_memory(instruction: str, expected: list[MemoryAccess]) -> None:
    assert accesses_of(Instruction(instruction)) == expected
