"""Translates single instructions of AMD's assembly into C++ statements; `amd_assembly.h` defines what they call."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from hipcpu.front.amd_builtins import has_builtin

_HEADER = Path(__file__).parents[1] / "include" / "wavepool" / "threads" / "amd_assembly.h"
_DEFINED = re.compile(r"\bWP_V\w*\((\w+?)(?:##TYPE)?,|WP_FN void ([vs]_\w+)\(")
_TYPES = {"WP_V_FLOATS": ("f32", "f64", "f16"), "WP_V_SMALL_FLOATS": ("f32", "f16")}

# Waits, caches, priorities and alignment change no value where everything is done at once.
_NOTHING = re.compile(
    r"s_(?:nop|sleep|setprio|wakeup|waitcnt_\w+|wait_\w+|inst_prefetch|icache_\w+|dcache_\w+|gl1_inv|clause|delay_alu"
    r"|sched\w*|set_inst_prefetch_distance|ttracedata\w*)|sched_\w+|v_nop|buffer_(?:wbl2|inv|wbinvl1\w*|gl\d_inv)|\.(?:p2)?align"
)
_AMD = re.compile(r"(?:[sv]|ds|buffer|global|flat|scratch|tbuffer|image|sched)_\w+|\.(?:p2)?align|\w+:")
_REGISTER = re.compile(r"(?:[vsa](?:\d+|\[.*\])|vcc(?:_lo|_hi)?|exec(?:_lo|_hi)?|scc|m0|ttmp\w*|flat_scratch\w*)$")
_OPERAND = re.compile(r"%(?:(\d+)|\[(\w+)\])$")
_CHANGED_SIGN = re.compile(r"-(.+)|\|(.+)\||abs\((.+)\)|neg\((.+)\)")
_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+)(?:e[-+]?\d+)?$")
_INTEGER = re.compile(r"[-+]?(?:0x[0-9a-f]+|0b[01]+|\d+)$")
_TERMS = re.compile(r"%\d+|%\[\w+\]|0x[0-9a-f]+|\d+|[-+*()]")
_PIECES = re.compile(r"(?:\[[^\]]*\]|\([^)]*\)|\|[^|]*\||[^\s,\[(|])+|,")

_LDS = re.compile(r"ds_(read|load|write|store)(2|_2addr)?(st64|_stride64)?_(\w+)")
_LDS_TYPES = {
    "b8": "unsigned char", "b16": "unsigned short", "b32": "unsigned", "b64": "unsigned long",
    "b96": "wp_asm::words<3>", "b128": "wp_asm::words<4>",
    "u8": "unsigned char", "i8": "signed char", "u16": "unsigned short", "i16": "short",
}  # fmt: skip
_MEMORY_TYPES = {
    "dword": "unsigned", "dwordx2": "unsigned long", "dwordx3": "wp_asm::words<3>", "dwordx4": "wp_asm::words<4>",
    "ubyte": "unsigned char", "sbyte": "signed char", "byte": "unsigned char",
    "ushort": "unsigned short", "sshort": "short", "short": "unsigned short",
}  # fmt: skip
_PLACES = (("", "offset_in"), ("index_in", "both_in"))
_DPP_CONTROLS = {
    "row_shl": 0x100, "row_shr": 0x110, "row_ror": 0x120, "row_newbcast": 0x150,
    "wave_shl": 0x12F, "wave_rol": 0x133, "wave_shr": 0x137, "wave_ror": 0x13B,
}  # fmt: skip
_DPP_ALONE = {"row_mirror": 0x140, "row_half_mirror": 0x141}
_DPP_OTHERS = ("row_bcast", "quad_perm", "row_mask", "bank_mask", "bound_ctrl")
_DPP_BROADCASTS = {"15": 0x142, "31": 0x143}
_HARDWARE_REGISTERS = {"HW_REG_MODE": 1, "HW_REG_HW_ID": 4, "HW_REG_XCC_ID": 20}
_HINTS = frozenset(("glc", "slc", "dlc", "sc0", "sc1", "nt", "scc"))

_ATOMIC_TYPES = {
    "add": "unsigned", "add_x2": "unsigned long", "add_f32": "float", "add_f64": "double",
    "pk_add_f16": "wp_half2", "pk_add_bf16": "wp_bfloat2",
}  # fmt: skip
_COMPARISONS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=", "neq": "!="}
_COMPARISON = re.compile(r"v_cmp_(\w+)_(f16|f32|f64|i32|u32|i64|u64)")

_CONVERSION = re.compile(
    r"((?P<decodes>v_cvt_(?:pk_)?f32)_(?:fp8|bf8)|(?P<encodes>v_cvt_(?:pk|sr))_(?:fp8|bf8)_f32)(?:_sdwa)?"
)
# How they choose a part of the register with the codes, as AMD's assembler writes it; without a word it is the first.
_PARTS = {
    "v_cvt_f32": ("src0_sel", ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3")),
    "v_cvt_pk_f32": ("src0_sel", ("WORD_0", "WORD_1")),
    "v_cvt_pk": ("op_sel", ("[0,0,0]", "[0,0,1]")),
    "v_cvt_sr": ("op_sel", ("[0,0,0,0]", "[0,0,1,0]", "[0,0,0,1]", "[0,0,1,1]")),
}

_ADVICE = (
    (re.compile(r"v_(?:s?mfma|smfmac)"), "call the matrix builtin of the same shape, __builtin_amdgcn_mfma_..."),
    (re.compile(r"ds_"), "read and write shared memory as an array, or call its builtin"),
    (re.compile(r"(?:global|flat|scratch|s_(?:load|store))_?"), "read and write memory with a pointer"),
    (re.compile(r"t?buffer_"), "call __builtin_amdgcn_raw_buffer_load_b32 or its kin"),
    (re.compile(r"s_c?branch|s_setpc|s_swappc|s_endpgm|\w+:"), "write the branch or the loop in C++"),
    (re.compile(r"image_"), "the MI300X has no textures: read global memory"),
    (re.compile(r""), "write it as C++, or call its builtin"),
)


class RefusedError(Exception):
    """An instruction that the cpu device cannot run; the text says why, and what to write instead."""


@dataclass
class Translation:
    """The C++ statements of one assembly statement so far; `names` maps operands to variables."""

    names: Mapping[str, str]
    statements: list[str] = field(default_factory=list[str])
    sets_vcc: bool = False
    waits: bool = False

    @property
    def code(self) -> str:
        """The statements, in order."""
        # Lanes of a wavefront run one after another here: who waits for shared memory means to see what others wrote.
        barrier = ["__wp_wave_barrier(0, 0, __builtin_LINE());"] if self.waits and not self.has_barrier else []
        vcc = ["unsigned long wp_vcc = 0;"] if self.sets_vcc else []
        return " ".join([*vcc, *barrier, *self.statements])

    @property
    def has_barrier(self) -> bool:
        """True if all threads of the block wait here."""
        return any("s_barrier" in statement for statement in self.statements)


@dataclass(frozen=True)
class _Instruction:
    text: str
    name: str
    operands: tuple[str, ...]
    modifiers: Mapping[str, str]

    def refused(self, why: str = "") -> RefusedError:
        advice = next(advice for pattern, advice in _ADVICE if pattern.match(self.name))
        reason = why or "the cpu device cannot run this instruction"
        return RefusedError(f"`{self.text}`: {reason}: {advice}")

    def checked(self, operands: int | tuple[int, ...], *modifiers: str) -> None:
        """Raise RefusedError unless the instruction has so many operands and at most these modifiers."""
        counts = (operands,) if isinstance(operands, int) else operands
        if len(self.operands) not in counts:
            raise self.refused(f"{len(self.operands)} operands, and not {' or '.join(map(str, counts))}")
        if unknown := [name for name in self.modifiers if name not in {*modifiers, *_HINTS}]:
            raise self.refused(f"the modifier `{unknown[0]}` is not known here")


def is_amd(instruction: str) -> bool:
    """Return True if a line of assembly can be AMD's."""
    return _AMD.match(instruction) is not None


def is_wait(instruction: str) -> bool:
    """Return True if a line of assembly changes no value."""
    name = instruction.partition(" ")[0]
    return name in {"s_waitcnt", "s_barrier"} or _NOTHING.fullmatch(name) is not None


def translate(text: str, into: Translation) -> None:
    """Append the C++ of one instruction; raises RefusedError."""
    one = _parsed(text)
    if _NOTHING.fullmatch(one.name):
        return
    if one.name == "s_waitcnt":
        into.waits |= "lgkmcnt" in text or one.operands == ("0",)
        return
    family = next((translated for prefix, translated in _FAMILIES if one.name.startswith(prefix)), _arithmetic)
    into.statements.append(family(one, into))


def _parsed(text: str) -> _Instruction:
    head, _, rest = text.strip().partition(" ")
    name = re.sub(r"_e(?:32|64)(?:_dpp)?$|_dpp$", "", head)
    operands: list[str] = []
    modifiers: dict[str, str] = {}
    begins = True
    for piece in _PIECES.findall(rest):
        if piece == ",":
            begins = True
        elif begins and not re.match(r"[a-z]\w*:", piece):
            operands.append(piece)
            begins = False
        else:
            modifier, _, value = piece.partition(":")
            modifiers[modifier] = value
    return _Instruction(" ".join(text.split()), name, tuple(operands), modifiers)


def _value(one: _Instruction, operand: str, into: Translation) -> str:
    if match := _OPERAND.match(operand):
        key = match[1] or match[2]
        if key not in into.names:
            raise one.refused(f"there is no operand {operand}")
        return into.names[key]
    if _INTEGER.match(operand):
        return f"wp_asm::bits{{static_cast<unsigned long>({operand}l)}}"
    if _NUMBER.match(operand):
        return f"wp_asm::number{{{operand}}}"
    if match := _CHANGED_SIGN.fullmatch(operand):
        kind = "absolute" if match[2] or match[3] else "negated"
        return f"wp_asm::{kind}{{{_value(one, next(filter(None, match.groups())), into)}}}"
    if operand == "m0":
        return "wp_asm::get_m0()"
    if operand == "vcc" and into.sets_vcc:
        return "wp_vcc"
    is_register = _REGISTER.match(operand)
    why = f"it names the register {operand}: give it an operand, %0 with a variable"
    raise one.refused(why if is_register else f"the operand `{operand}` is not known here")


def _number(one: _Instruction, modifier: str, into: Translation) -> str:
    """Return the value of a modifier such as `offset:16`, which may be an operand."""
    text = one.modifiers.get(modifier, "0")
    pieces = _TERMS.findall(text)
    if "".join(pieces) != text:
        raise one.refused(f"`{modifier}:{text}` is not a number")
    terms = (f"int({_value(one, piece, into)})" if piece.startswith("%") else piece for piece in pieces)
    return f"({''.join(terms)})"


def _arithmetic(one: _Instruction, into: Translation) -> str:
    if one.name not in _known():
        raise one.refused()
    target, *sources = one.operands
    if target == "m0":
        values = ", ".join(_value(one, source, into) for source in sources)
        return f"{{ unsigned wp_m0 = 0; wp_asm::{one.name}(wp_m0, {values}); wp_asm::set_m0(wp_m0); }}"
    values = [_value(one, target, into), *(_value(one, source, into) for source in sources)]
    if one.name.startswith("v_pk_"):
        one.checked((3, 4), "op_sel", "op_sel_hi", "neg_lo", "neg_hi")
        masks = (_mask(one, *each) for each in (("op_sel", 0), ("op_sel_hi", 7), ("neg_lo", 0), ("neg_hi", 0)))
        return f"wp_asm::{one.name}({', '.join(values)}, wp_asm::packing{{{', '.join(map(str, masks))}}});"
    if (control := _dpp_control(one)) is not None:
        one.checked((2, 3), *_DPP_CONTROLS, *_DPP_ALONE, *_DPP_OTHERS)
        rows, banks = (one.modifiers.get(name, "0xf") for name in ("row_mask", "bank_mask"))
        outside = str("bound_ctrl" in one.modifiers).lower()
        rest = "".join(f", {value}" for value in values[2:])
        call = f"[&](auto& wp_d, unsigned wp_x) {{ wp_asm::{one.name}(wp_d, wp_x{rest}); }}"
        return f"wp_asm::with_dpp({values[0]}, {values[1]}, {control}, {rows}, {banks}, {outside}, {call});"
    one.checked((2, 3, 4))
    return f"wp_asm::{one.name}({', '.join(values)});"


def _comparison(one: _Instruction, into: Translation) -> str:
    match = _COMPARISON.fullmatch(one.name)
    if match is None or match[1] not in _COMPARISONS:
        raise one.refused()
    one.checked(3)
    into.sets_vcc |= one.operands[0] == "vcc"
    values = ", ".join(_value(one, operand, into) for operand in one.operands)
    holds = f"[](auto a, auto b) {{ return a {_COMPARISONS[match[1]]} b; }}"
    return f"wp_asm::compare<wp_asm::{match[2]}>({values}, {holds});"


def _conversion(one: _Instruction, into: Translation) -> str:
    """Translate a conversion of 8-bit floats, which is about one byte or half of the register that has their codes."""
    match = _CONVERSION.fullmatch(one.name)
    if match is None:
        return _arithmetic(one, into)
    modifier, parts = _PARTS[match["decodes"] or match["encodes"]]
    one.checked(2 if match["decodes"] else 3, modifier)
    chosen = one.modifiers.get(modifier, parts[0]).replace(" ", "")
    if chosen not in parts:
        raise one.refused(f"`{modifier}:{chosen}` is not valid; choose {', '.join(parts)}")
    values = ", ".join(_value(one, operand, into) for operand in one.operands)
    return f"wp_asm::{match[1]}<{parts.index(chosen)}>({values});"


def _mask(one: _Instruction, modifier: str, usual: int) -> int:
    if modifier not in one.modifiers:
        return usual
    digits = re.findall(r"[01]", one.modifiers[modifier])
    return sum(int(digit) << at for at, digit in enumerate(digits))


def _dpp_control(one: _Instruction) -> int | None:
    for name, value in one.modifiers.items():
        if name in _DPP_ALONE:
            return _DPP_ALONE[name]
        if name == "row_bcast" and value in _DPP_BROADCASTS:
            return _DPP_BROADCASTS[value]
        if name == "quad_perm":
            return sum(int(digit) << 2 * at for at, digit in enumerate(re.findall(r"[0-3]", value)))
        if name in _DPP_CONTROLS and _INTEGER.match(value):
            return _DPP_CONTROLS[name] + int(value, 0)
    return None


def _barrier(one: _Instruction, _into: Translation) -> str:
    one.checked(0)
    return "__builtin_amdgcn_s_barrier();"


def _clock(one: _Instruction, into: Translation) -> str:
    one.checked(1)
    return f"wp_asm::put({_value(one, one.operands[0], into)}, (unsigned long)__builtin_amdgcn_{one.name}());"


def _hardware_register(one: _Instruction, into: Translation) -> str:
    one.checked(2)
    match = re.fullmatch(r"hwreg\((\w+)(?:,(\d+),(\d+))?\)", one.operands[1].replace(" ", ""))
    if match is None or match[1] not in _HARDWARE_REGISTERS:
        raise one.refused(f"only {', '.join(_HARDWARE_REGISTERS)} are there")
    register = _HARDWARE_REGISTERS[match[1]] | int(match[2] or 0) << 6 | int(match[3] or 32) - 1 << 11
    return f"wp_asm::put({_value(one, one.operands[0], into)}, __builtin_amdgcn_s_getreg({register}));"


def _shared_memory(one: _Instruction, into: Translation) -> str:
    if one.name in _known():
        return _arithmetic(one, into)
    match = _LDS.fullmatch(one.name)
    if match is None or match[4] not in _LDS_TYPES:
        raise one.refused()
    kind, pair, apart, suffix = match.groups()
    type_name, reads = _LDS_TYPES[suffix], kind in {"read", "load"}
    if pair:
        one.checked(2 if reads else 3, "offset0", "offset1")
        return _two_places(one, into, type_name, 64 if apart else 1, reads=reads)
    one.checked(2, "offset")
    address, value = (_value(one, operand, into) for operand in (reversed(one.operands) if reads else one.operands))
    place = f"wp_asm::shared({address}, {_number(one, 'offset', into)})"
    return _moved(type_name, value, place, reads=reads)


def _moved(type_name: str, value: str, place: str, *, reads: bool) -> str:
    return (
        f"wp_asm::load<{type_name}>({value}, {place});" if reads else f"wp_asm::store<{type_name}>({place}, {value});"
    )


def _two_places(one: _Instruction, into: Translation, type_name: str, stride: int, *, reads: bool) -> str:
    values = [_value(one, operand, into) for operand in one.operands]
    address = values[1] if reads else values[0]
    offsets = (f"{_number(one, name, into)} * {stride} * int(sizeof({type_name}))" for name in ("offset0", "offset1"))
    places = [f"wp_asm::shared({address}, {offset})" for offset in offsets]
    if not reads:
        return " ".join(
            _moved(type_name, value, place, reads=False) for value, place in zip(values[1:], places, strict=True)
        )
    halves = " ".join(_moved(type_name, *each, reads=True) for each in zip(("wp_low", "wp_high"), places, strict=True))
    whole = f"wp_asm::put({values[0]}, wp_asm::pair<{type_name}>{{wp_low, wp_high}});"
    return f"{{ {type_name} wp_low, wp_high; {halves} {whole} }}"


def _global_memory(one: _Instruction, into: Translation) -> str:
    match = re.fullmatch(r"(global|flat)_(load|store|atomic)_(\w+)", one.name)
    if match is None or match[3] not in (_ATOMIC_TYPES if match[2] == "atomic" else _MEMORY_TYPES):
        raise one.refused()
    space, kind, suffix = match.groups()
    one.checked((2, 3, 4) if kind == "atomic" else (2, 3), "offset")
    *values, base = one.operands if space == "global" else (*one.operands, "off")
    result = values.pop(0) if kind == "load" or len(values) > 2 else ""  # noqa: PLR2004 - the address and the value
    scalar = "" if base == "off" else f"{_value(one, base, into)}, "
    place = f"wp_asm::global({_value(one, values[0], into)}, {scalar}{_number(one, 'offset', into)})"
    if kind == "load":
        return _moved(_MEMORY_TYPES[suffix], _value(one, result, into), place, reads=True)
    value = _value(one, values[1], into)
    if kind == "store":
        return _moved(_MEMORY_TYPES[suffix], value, place, reads=False)
    return _kept(one, into, result, f"wp_asm::atomic_sum<{_ATOMIC_TYPES[suffix]}>({place}, {value})")


def _kept(one: _Instruction, into: Translation, result: str, call: str) -> str:
    return f"wp_asm::put({_value(one, result, into)}, {call});" if result else f"{call};"


def _buffer_memory(one: _Instruction, into: Translation) -> str:
    match = re.fullmatch(r"buffer_(load|store|atomic)_(\w+)", one.name)
    if match is None or match[2] not in (_ATOMIC_TYPES if match[1] == "atomic" else _MEMORY_TYPES):
        raise one.refused()
    to_shared = "lds" in one.modifiers
    one.checked(3 if to_shared else 4, "offset", "offen", "idxen", "lds")
    *register, voffset, resource, scalar = one.operands
    kind = _PLACES["idxen" in one.modifiers]["offen" in one.modifiers]
    offset = _number(one, "offset", into)
    register_and_offset = f"{_value(one, voffset, into)}, {offset}" if kind else f"unsigned({offset})"
    place = f"wp_asm::{kind or 'place_at'}({register_and_offset})"
    rest = f"{place}, {_value(one, resource, into)}, {_value(one, scalar, into)}"
    if to_shared:
        if match[2] != "dword":
            raise one.refused("gfx942 loads 4 bytes a lane to shared memory")
        return f"wp_asm::buffer_to_shared({rest}, {offset});"
    value = _value(one, register[0], into)
    if match[1] == "atomic":
        result = register[0] if {"glc", "sc0"} & {*one.modifiers} else ""
        return _kept(one, into, result, f"wp_asm::buffer_sum<{_ATOMIC_TYPES[match[2]]}>({value}, {rest})")
    return f"wp_asm::buffer_{match[1]}<{_MEMORY_TYPES[match[2]]}>({value}, {rest});"


def _matrix(one: _Instruction, into: Translation) -> str:
    one.checked(4)
    values = ", ".join(_value(one, operand, into) for operand in one.operands)
    # v_mfma_f32_16x16x16_f16 is mfma_f32_16x16x16f16, v_mfma_f32_32x32x8_bf16 is mfma_f32_32x32x8bf16_1k.
    plain = re.sub(r"(x\d+)_(\w+)$", r"\1\2", one.name)
    named = (f"__builtin_amdgcn_{name[2:]}" for name in (one.name, plain, f"{plain}_1k"))
    builtin = next((name for name in named if has_builtin(name)), None)
    if builtin is None:
        raise one.refused()
    return f"wp_asm::matrix(&{builtin}, {values});"


_FAMILIES: tuple[tuple[str, Callable[[_Instruction, Translation], str]], ...] = (
    ("s_barrier", _barrier),
    ("s_memtime", _clock),
    ("s_memrealtime", _clock),
    ("s_getreg_b32", _hardware_register),
    ("ds_", _shared_memory),
    ("global_", _global_memory),
    ("flat_", _global_memory),
    ("buffer_", _buffer_memory),
    ("v_mfma_", _matrix),
    ("v_cmp_", _comparison),
    ("v_cvt_", _conversion),
)


@cache
def _known() -> frozenset[str]:
    """The names of instructions that `amd_assembly.h` defines."""
    found: set[str] = set()
    kinds: Sequence[str] = ()
    for line in _HEADER.read_text("utf-8").splitlines():
        if match := re.match(r"#define (WP_V\w*_?FLOATS)", line):
            kinds = _TYPES[match[1]]
        for first, second in _DEFINED.findall(line):
            name = first or second
            found.update(name + kind for kind in kinds) if "##TYPE" in line else found.add(name)
    return frozenset(found)
