from __future__ import annotations

from hipcpu.ir.debug_locations import DebugLocations
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.module import Module

MODULE = """
!1 = !DIFile(filename: "solution.hip", directory: "/build")
!2 = !DIFile(filename: "wavepool/threads/cross_lane.h", directory: "")
!3 = distinct !DISubprogram(name: "kernel", scope: !1, file: !1, line: 4)
!4 = distinct !DILexicalBlock(scope: !3, file: !1, line: 5, column: 3)
!5 = distinct !DISubprogram(name: "__shfl", scope: !2, file: !2, line: 30)
!6 = !DILocation(line: 7, column: 9, scope: !4)
!7 = !DILocation(line: 31, column: 2, scope: !5, inlinedAt: !8)
!8 = distinct !DILocation(line: 9, column: 1, scope: !3)
!9 = !DILocation(line: 31, column: 2, scope: !5)
"""
LOCATIONS = DebugLocations(Module.from_text(MODULE), "solution.hip")


def _line(instruction: str) -> int:
    return LOCATIONS.line(Instruction(instruction))


def test_an_instruction_of_the_source_has_its_own_line() -> None:
    assert _line("  %0 = load float, ptr %p, align 4, !dbg !6, !tbaa !58") == 7


def test_code_of_a_header_counts_as_the_line_that_called_it() -> None:
    assert _line("  %0 = load float, ptr %p, align 4, !dbg !7") == 9


def test_what_no_line_of_the_source_called_has_none() -> None:
    assert _line("  %0 = load float, ptr %p, align 4, !dbg !9") == 0
    assert _line("  %0 = load float, ptr %p, align 4") == 0


def test_a_function_has_the_name_and_the_line_of_its_subprogram() -> None:
    assert LOCATIONS.subprogram("!3") == ("kernel", 4)
    assert LOCATIONS.subprogram("!77") == ("", 0)
