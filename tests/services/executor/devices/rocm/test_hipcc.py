"""AMD's real hipcc on every source that certify expects it to compile, and on those that it must refuse.

The kernels of each reference and honest kernel are compiled alone, as a submission's are, to a code object for an
MI300X. That takes 0.7 s of processor time or more each, so `make test` takes a tenth of them. Compiling both halves of
all sources and attacks in processes of their own would take minutes. These are therefore compiled together, without
generating code, each in a namespace of its own. Sources that fail are compiled again with the others that failed, until
that helps none of them: two sources may define the same macro or C function. A source that defines a C function of its
own is compiled alone, since the function may be one of the system's, which no namespace keeps apart. One gap remains: a
source that lacks an include may pass because another source has it, or because the global namespace already has the
name.
"""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from elftools.elf.elffile import ELFFile

from services.executor.core.certify.sources import HONEST, ROOT, refused_on
from services.executor.core.model.verdict import Verdict
from services.executor.devices.rocm import toolchain
from tests.attacks.manifest import attempts
from tests.needs import ROCM
from tests.tiers import sampled

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

pytestmark = [pytest.mark.rocm, pytest.mark.timeout(600)]
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*$", re.MULTILINE)
ERROR = re.compile(r"^(\S+\.hip):\d+:\d+: (?:fatal )?error: ", re.MULTILINE)
PLACEHOLDER = re.compile(r"@[A-Z]+@")
OWN_FUNCTION = re.compile(r'extern "C" (?!__global__)(?!void solution)[^(;{]*\(')
TAKEN = sorted(
    [
        *ROOT.glob("problems/catalogue/*/solution.hip"),
        *(path for path in HONEST.glob("*.hip") if path.stem not in refused_on("rocm")),
    ]
)
TARGET_BITS, GFX942 = 0xFF, 0x4C
"""Flags of an ELF file; see LLVM, AMDGPUUsage, "AMDGPU EF_AMDGPU_MACH Values"."""
NOT_COMPILED = {Verdict.COMPILE_ERROR, Verdict.COMPILE_LIMIT, Verdict.FORBIDDEN_LIBRARY}


@pytest.fixture(autouse=True)
def real_rocm(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("ROCM_PATH", str(ROCM))
    monkeypatch.setenv("HIP_PLATFORM", "amd")
    toolchain.rocm.cache_clear()
    yield
    toolchain.rocm.cache_clear()


def _said(source: Path) -> subprocess.CompletedProcess[str]:
    command = [*toolchain.driver("gfx942").compile, "-fsyntax-only", "-ferror-limit=0", str(source)]
    return subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300, check=False)


def _together(sources: Collection[Path]) -> str:
    texts = {path: PLACEHOLDER.sub("1", path.read_bytes().decode()) for path in sources}
    includes = dict.fromkeys(line.strip() for text in texts.values() for line in INCLUDE.findall(text))
    parts = [
        f'namespace part{at} {{\n#define solution solution_{at}\n#line 1 "{path}"\n{INCLUDE.sub("", text)}\n'
        "#undef solution\n}\n"
        for at, (path, text) in enumerate(texts.items())
    ]
    return "\n".join([*includes, *parts])


def _refused(sources: Collection[Path], folder: Path) -> tuple[set[Path], str]:
    """The sources that do not compile, with the compiler's text."""
    alone = {path for path in sources if OWN_FUNCTION.search(path.read_bytes().decode())}
    for path in sorted(alone):
        if (done := _said(path)).returncode:
            return {path}, done.stderr
    left, said = set(sources) - alone, ""
    while left:
        whole = folder / "together.hip"
        whole.write_text(_together(sorted(left)))
        done = _said(whole)
        if not done.returncode:
            return set(), ""
        failed, said = {Path(name) for name in ERROR.findall(done.stderr)}, done.stderr
        assert failed <= left, said
        if not failed or failed == left:
            break
        left = failed
    return left, said


def _name(source: Path) -> str:
    return source.parent.name if source.stem == "solution" else source.stem


@pytest.mark.parametrize("source", sampled(TAKEN, TAKEN[::10]), ids=_name)
def test_kernels_become_a_code_object_for_an_mi300x(source: Path, tmp_path: Path) -> None:
    made = tmp_path / "kernels.o"
    command = [*toolchain.driver("gfx942").kernels, str(source), "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    with made.open("rb") as stream:
        file = cast("Any", ELFFile(stream))
        names = [symbol.name for symbol in file.get_section_by_name(".symtab").iter_symbols()]
        assert (file["e_machine"], file["e_flags"] & TARGET_BITS) == ("EM_AMDGPU", GFX942)
    # One of the sources works on the host alone, and one has the kernels of hipCUB.
    has_kernels = re.search("__global__|hipcub::Device", source.read_text("utf-8")) is not None
    assert any(name.endswith(".kd") for name in names) == has_kernels


def test_references_and_what_people_write_compile(tmp_path: Path) -> None:
    assert _refused(TAKEN, tmp_path) == (set(), "")


@pytest.mark.parametrize("name", sorted(refused_on("rocm")))
def test_what_is_listed_is_refused_with_these_words(name: str) -> None:
    done = _said(HONEST / f"{name}.hip")
    assert done.returncode != 0
    assert refused_on("rocm")[name] in done.stderr


def test_attacks_compile_that_are_to_run(tmp_path: Path) -> None:
    expected = {one.file for one in attempts() if not {end.verdict for end in one.outcomes["rocm"]} & NOT_COMPILED}
    assert len(expected) > 100
    assert _refused(expected, tmp_path) == (set(), "")
