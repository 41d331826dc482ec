"""Translates what is AMD's in a source, but no C++, before clang reads it for the host's processor.

- Inline assembly: clang knows neither its registers nor its instructions. A statement of AMD's instructions becomes a
  statement expression that copies its operands into variables, calls `wp_asm::v_add_f32(wp_0, wp_1, wp_2)` and so on,
  and copies the results back. What cannot run becomes a call that the join refuses if a kernel reaches it, so that code
  which is never called refuses nothing.
- Labels: `__asm("llvm.amdgcn.raw.buffer.load.i32")` behind a declaration names an intrinsic of AMD's back end. Other
  processors have no such intrinsic, and LLVM lets no source define it, so the label gets a prefix, and
  `amd_labels.h` defines the functions of these names.
- `__has_builtin(__builtin_amdgcn_...)` asks clang about the host's processor; our headers know the answer.

The text is read as tokens, not parsed: assembly in macros is translated where it is defined. Every line keeps its
number. The assembly of other processors stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hipcpu.front.amd_builtins import has_builtin
from hipcpu.front.amd_instructions import RefusedError, Translation, is_amd, is_wait, translate

LABELS_HEADER = "wavepool/threads/amd_labels.h"
"""Header with the functions that sources call by label."""
_ASSEMBLY_HEADER = "wavepool/threads/amd_assembly.h"
_CONCERNED = re.compile(r"\b(?:__asm|asm|__asm__)\b|\b__has_builtin\b")
_TOKEN = re.compile(
    r"""(?P<comment>//(?:\\\r?\n|[^\n])*|/\*.*?\*/)
    |(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^\s()\\]{0,16})\((?P<text>.*?)\)(?P=mark)")
    |(?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")
    |(?P<character>'(?:\\.|[^'\\\n])+')
    |(?P<word>[A-Za-z_]\w*)
    |(?P<number>\.?\d(?:'?[\w.])*)
    |(?P<space>(?:\s|\\\r?\n)+)
    |(?P<other>.)""",
    re.DOTALL | re.VERBOSE,
)
_KINDS = ("space", "word", "other", "string", "raw", "number", "character", "comment")
_ASM = frozenset(("asm", "__asm", "__asm__"))
_QUALIFIERS = frozenset(("volatile", "__volatile__", "__volatile", "inline", "__inline__", "__inline"))
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_NEW_LINE = re.compile(r"\\?\r?\n")
_AMD_REGISTERS = re.compile(r"[=+&]*(?:[vsa]|\{[vsa][\d\[].*\})$")
# A macro may make the number: "a" #N.
_CLOBBERED = re.compile(r"[vsa](?:\d+|\[\d+:\d+\])?|vcc|exec|scc|m0")
_COMMENT = re.compile(r"/\*.*?\*/|(?:;|//)[^\n]*", re.DOTALL)
_VARIABLE = re.compile(r"\bwp_\d+\b")
_LABEL = "llvm.amdgcn."
_PREFIX = "wp."
_BUILTIN = "__builtin_amdgcn_"
_MATRIX = re.compile(r"s?mfma")


@dataclass(frozen=True)
class AmdSource:
    """A translated text, and the headers that it needs."""

    text: str
    headers: tuple[str, ...]


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    begin: int

    @property
    def end(self) -> int:
        return self.begin + len(self.text)


def amd_source(text: str) -> AmdSource | None:
    """Translate a source; None if nothing in it needs it."""
    if not _CONCERNED.search(text):
        return None
    tokens = list(_tokens(text))
    pieces: list[str] = []
    headers: dict[str, None] = {}
    done = at = 0
    while at < len(tokens):
        found = _replacement(text, tokens, at)
        if found is None:
            at += 1
            continue
        new, last, header = found
        old = text[tokens[at].begin : tokens[last].end]
        # As many lines as before, continued where a macro continues them.
        pieces += [text[done : tokens[at].begin], new, *_NEW_LINE.findall(old)[len(_NEW_LINE.findall(new)) :]]
        done, at = tokens[last].end, last + 1
        if header:
            headers[header] = None
    return AmdSource("".join([*pieces, text[done:]]), tuple(headers)) if done else None


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the tokens of a text without spaces and comments."""
    for match in _TOKEN.finditer(text):
        kind = next(name for name in _KINDS if match[name] is not None)
        if kind not in {"space", "comment"}:
            yield _Token(kind, match[0], match.start())


def _replacement(text: str, tokens: Sequence[_Token], at: int) -> tuple[str, int, str] | None:
    """Return the new text of the tokens from `at`, the last token that it replaces, and the header that it needs."""
    word = tokens[at].text
    if word == "__has_builtin" and at + 3 < len(tokens) and tokens[at + 2].text.startswith(_BUILTIN):
        return str(int(has_builtin(tokens[at + 2].text))), at + 3, ""
    if word not in _ASM:
        return None
    begin = at + 1
    while begin < len(tokens) and tokens[begin].text in _QUALIFIERS:
        begin += 1
    end = _closing(tokens, begin)
    if end is None:
        return None
    sections = _split(tokens[begin + 1 : end], ":")
    # A macro may make a number in a wait: what it is does not matter.
    literal = [token.kind in {"string", "raw"} for token in sections[0]]
    template = "".join(_content(token) if known else "0" for token, known in zip(sections[0], literal, strict=True))
    if len(sections) == 1 and template.startswith(_LABEL):
        return f'{word}("{_PREFIX}{_label(template)}")', end, LABELS_HEADER
    if not any(literal):
        return None
    new = _translated(text, template, sections[1:], waits_only=not all(literal))
    return (new, end, _ASSEMBLY_HEADER) if new is not None else None


def _label(name: str) -> str:
    """Return the name of a function in `amd_labels.h`, which spells matrix instructions as the table of them does."""
    rest = name.removeprefix(_LABEL)
    return _LABEL + (rest.replace(".", "_") if _MATRIX.match(rest) else rest)


def _closing(tokens: Sequence[_Token], begin: int) -> int | None:
    """Return the index of the parenthesis that closes the one at `begin`."""
    if begin >= len(tokens) or tokens[begin].text != "(":
        return None
    depth = 0
    for at in range(begin, len(tokens)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(tokens[at].text, 0)
        if depth == 0:
            return at
    return None


def _split(tokens: Sequence[_Token], separator: str) -> list[list[_Token]]:
    parts: list[list[_Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(token.text, 0)
        if depth == 0 and token.text == separator:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _content(token: _Token) -> str:
    if token.kind == "raw":
        match = _TOKEN.match(token.text)
        return match["text"] if match else ""
    inner = token.text[token.text.find('"') + 1 : -1]
    return re.sub(r"\\(\r?\n|.)", lambda match: "" if "\n" in match[1] else _ESCAPES.get(match[1], match[1]), inner)


@dataclass(frozen=True)
class _Operand:
    name: str
    constraint: str
    expression: str


def _operands(text: str, section: Sequence[_Token]) -> list[_Operand]:
    found: list[_Operand] = []
    for part in _split(section, ","):
        named = len(part) > 3 and part[0].text == "["  # noqa: PLR2004 - [ name ] "constraint"
        begin = 3 if named else 0
        opening = next((at for at, token in enumerate(part) if at >= begin and token.text == "("), None)
        if opening is None:
            continue
        constraint = "".join(map(_content, part[begin:opening]))
        found.append(_Operand(part[1].text if named else "", constraint, _on_one_line(text, part[opening:])))
    return found


def _on_one_line(text: str, tokens: Sequence[_Token]) -> str:
    """Return the tokens' text without comments and new lines."""
    gaps = ["" if first.end == second.begin else " " for first, second in pairwise(tokens)]
    return "".join(token.text + gap for token, gap in zip(tokens, [*gaps, ""], strict=True)) if text else ""


def _translated(text: str, template: str, sections: Sequence[Sequence[_Token]], *, waits_only: bool) -> str | None:
    """Return an assembly statement in C++; None if it is not AMD's, or with `waits_only` does more than wait."""
    outputs = _operands(text, sections[0]) if sections else []
    inputs = _operands(text, sections[1]) if len(sections) > 1 else []
    lines = [line.strip() for line in _COMMENT.sub("", template.replace("%%", "%")).splitlines()]
    instructions = [line for line in lines if line]
    # Nothing but names of registers reserves them.
    clobbered = any(_CLOBBERED.fullmatch(_content(one)) for one in (sections[2] if len(sections) > 2 else ()))  # noqa: PLR2004
    is_amds = clobbered or any(_AMD_REGISTERS.match(each.constraint) for each in [*outputs, *inputs])
    if not instructions and not is_amds:
        return None
    if not all(map(is_wait if waits_only else is_amd, instructions)):
        return None
    before, names, after = _variables(outputs, inputs)
    translation = Translation(names)
    try:
        for instruction in instructions:
            translate(instruction, translation)
    except RefusedError as error:
        message = str(error).replace("\\", "\\\\").replace('"', '\\"')
        return f'__wp_refused_assembly("{message}", __builtin_LINE())'
    if not translation.code and not any(_is_tied(each) for each in inputs):
        return "((void)0)"
    # A result that no instruction names stays as it is: it stands for a dependency.
    tied = {names[str(at)] for at, each in enumerate(inputs, len(outputs)) if _is_tied(each)}
    used = {*_VARIABLE.findall(translation.code), *tied}
    stored = [one for one in after if not used.isdisjoint(_VARIABLE.findall(one))]
    return f"({{ {' '.join([*before, translation.code, *stored])} }})"


def _is_tied(operand: _Operand) -> bool:
    return operand.constraint[:1].isdigit() or operand.constraint.startswith("[")


def _variables(outputs: Sequence[_Operand], inputs: Sequence[_Operand]) -> tuple[list[str], dict[str, str], list[str]]:
    """Return declarations of variables for the operands, the variables' names by number and name, and what stores them.

    An element of a vector cannot be referred to, so all are copied; one operand may be tied to another by its number.
    """
    before: list[str] = []
    names: dict[str, str] = {}
    after: list[str] = []
    for at, each in enumerate([*outputs, *inputs]):
        tied = re.sub(r"[\[\]]", "", each.constraint)
        is_output = at < len(outputs)
        variable = names[tied] if not is_output and tied in names else f"wp_{at}"
        names[str(at)] = variable
        if each.name:
            names[each.name] = variable
        if is_output:
            read = "+" in each.constraint
            before.append(f"__typeof__{each.expression} {variable}{f' = {each.expression}' if read else '{}'};")
            after.append(f"{each.expression} = {variable};")
        elif variable == f"wp_{at}":
            before.append(f"[[maybe_unused]] const auto {variable} = {each.expression};")
        else:
            before.append(f"{variable} = {each.expression};")
    return before, names, after
