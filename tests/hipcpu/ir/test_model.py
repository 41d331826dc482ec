"""The model of IR compared with LLVM's own: nothing is lost, and it reads the same as LLVM does."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hipcpu.front import front_end
from hipcpu.front.front_end import Parsed
from hipcpu.ir.function import Function, blocks_of
from hipcpu.ir.instruction import Instruction
from hipcpu.ir.module import Global, Module
from hipcpu.modules import back_end

_KERNELS = Path(__file__).parents[1] / "kernels"
_CATALOGUE = Path(__file__).parents[3] / "problems" / "catalogue"
_SOURCES = [
    *(_KERNELS / f"{name}.hip" for name in ("language", "host_api", "collectives", "rare_names")),
    *(_CATALOGUE / slug / "solution.hip" for slug in ("softmax", "matrix-multiplication", "cumsum", "nvfp4-gemm")),
]


@pytest.fixture(scope="module", params=_SOURCES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def parsed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Parsed:
    folder = tmp_path_factory.mktemp("model")
    checks = (_KERNELS / "check.h").read_text() if request.param.parent == _KERNELS else ""
    (folder / "solution.hip").write_text(checks + request.param.read_text())
    found = front_end.parse(folder, "solution.hip", lines=True)
    assert found.host is not None
    return found


def _optimised(text: str) -> Any:
    """LLVM's module, with a name for every value."""
    back_end.initialise()
    module, machine = back_end.parse(text), back_end.target_machine()
    back_end.optimise(module, machine, level=2)
    back_end.name_everything(module, machine)
    return module


def _printed(function: Function) -> str:
    """The function printed from all its parts."""
    return Function.of_blocks(function.header, function.blocks.values()).text


def test_a_module_is_printed_as_it_was_read(parsed: Parsed) -> None:
    for text in (parsed.host or "", parsed.kernels or "", str(_optimised(parsed.kernels or ""))):
        module = Module.from_text(text)
        assert module.functions
        assert module.text == text
        assert [_printed(function) for function in module.functions.values()] == [
            function.text for function in module.functions.values()
        ]


def test_instructions_are_read_as_llvm_reads_them(parsed: Parsed) -> None:
    theirs = _optimised(parsed.kernels or "")
    ours = Module.from_text(str(theirs))
    for function in theirs.functions:
        if function.is_declaration:
            continue
        wanted = [(one.opcode, one.name, _names(one)) for block in function.blocks for one in block.instructions]
        found = ours.functions[f"@{function.name}"].instructions
        assert [(one.opcode, one.result[1:].strip('"'), _used(one)) for one in found] == wanted


def _names(one: Any) -> set[str]:
    names = {operand.name for operand in one.operands if not operand.is_constant and not operand.is_global}
    return names | {block.name for block in one.incoming_blocks} if one.opcode == "phi" else names


def _used(one: Instruction) -> set[str]:
    values = {operand.value for operand in one.operands} | {one.callee}
    values |= set(one.targets) if one.opcode in ("br", "switch") else set()
    values |= {label for _, label in one.incoming} if one.opcode == "phi" else set()
    return {name[1:].strip('"') for name in values if name.startswith("%")}


_ODD_CALL = (
    "  %r = tail call contract noundef float "
    "@f(float noundef nofpclass(nan inf) %x, ptr byval(%struct.S) align 8 %p, i32 range(i32 0, 5) 3) #4"
)
_CAST_SYMBOL = "ptr addrspacecast (ptr addrspace(4) @s to ptr)"


@pytest.mark.parametrize(
    ("text", "type_", "operands"),
    [
        ("  %r = add nuw nsw i32 %a, -1", "i32", ["i32 %a", "i32 -1"]),
        ("  %r = icmp samesign ult ptr %a, null", "i1", ["ptr %a", "ptr null"]),
        ("  %r = sext i32 %a to i64", "i64", ["i32 %a"]),
        ("  %r = select i1 %c, float 0.000000e+00, float %x", "float", ["i1 %c", "float 0.000000e+00", "float %x"]),
        ("  %r = phi <2 x i8> [ undef, %a ], [ %x, %b ]", "<2 x i8>", ["<2 x i8> undef", "<2 x i8> %x"]),
        ("  %r = getelementptr inbounds nuw { i64, i32 }, ptr %p, i32 0, i32 1", "ptr", ["ptr %p", "i32 0", "i32 1"]),
        ('  %r = load volatile ptr addrspace(3), ptr @"a b", align 8, !tbaa !5', "ptr addrspace(3)", ['ptr @"a b"']),
        ("  store i32 ptrtoint (ptr @x to i32), ptr %p, align 4", "i32", ["i32 ptrtoint (ptr @x to i32)", "ptr %p"]),
        (_ODD_CALL, "float", ["float %x", "ptr %p", "i32 3"]),
        (f"  %r = call i32 (ptr, ...) @printf({_CAST_SYMBOL}, double %x)", "i32", [_CAST_SYMBOL, "double %x"]),
        ('  %r = atomicrmw fadd ptr %p, float %x syncscope("a") monotonic, align 4', "float", ["ptr %p", "float %x"]),
        ("  switch i32 %v, label %a [\n    i32 0, label %b\n  ]", "i32", ["i32 %v"]),
    ],
)
def test_operands_are_read_with_their_types(text: str, type_: str, operands: list[str]) -> None:
    one = Instruction(text)

    assert one.type == type_
    assert [f"{operand.type} {operand.value}" for operand in one.operands] == operands


def test_a_call_says_what_it_calls_and_inline_assembly_what_it_is() -> None:
    assert Instruction("  call void %12(ptr %x)").callee == "%12"
    assert Instruction('  call void asm sideeffect "s_nop 0", "~{memory}"() #3').assembly == "s_nop 0"
    assert Instruction("  %x = add i32 %call, 1").callee == ""


def test_instructions_of_several_lines_are_one_instruction() -> None:
    switch = "  switch i32 %v, label %b [\n    i32 0, label %c\n  ]"
    invoke = "  %r = invoke i32 @f(ptr %p)\n          to label %c unwind label %d, !dbg !7"
    pad = "  %e = landingpad { ptr, i32 }\n          cleanup"
    body = f"a:\n{switch}\n\nb:\n{invoke}\n\nc:\n  ret void\n\nd:\n{pad}\n  resume {{ ptr, i32 }} %e"

    blocks = list(blocks_of(body.splitlines()))

    assert [[one.text for one in block.instructions][:1] for block in blocks] == [
        [switch],
        [invoke],
        ["  ret void"],
        [pad],
    ]
    assert [block.targets for block in blocks] == [("%b", "%c"), ("%c", "%d"), (), ()]
    assert blocks[1].instructions[0].metadata == {"dbg": "!7"}


def test_new_names_take_the_place_of_old_ones_whole() -> None:
    assert Instruction("  %b = add i32 %a, %a.1").renamed({"%a": "%n"}).text == "  %b = add i32 %n, %a.1"


def test_a_variable_is_read_in_its_parts() -> None:
    found = Global('@"a b" = internal thread_local(localexec) global [2 x { i8, ptr }] undef, section "x, y", align 16')

    assert (found.symbol, found.qualifiers) == ('@"a b"', ("internal", "thread_local(localexec)"))
    assert (found.type, found.value, found.section) == ("[2 x { i8, ptr }]", "undef", "x, y")
    assert not found.is_constant
    assert Global('@s = private unnamed_addr constant [4 x i8] c"a],\\00", align 1').string == "a],"


def test_a_large_table_is_read_at_its_ends() -> None:
    table = Global(f'@t = internal constant [9 x i8] [{", ".join(["i8 1"] * 9)}], section "s", align 4')

    assert table.value.startswith("[i8 1, i8 1")
    assert table.attributes == ('section "s"', "align 4")
