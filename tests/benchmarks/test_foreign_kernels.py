"""What is sent of a folder of kernels, and how its ends are counted."""

from __future__ import annotations

from pathlib import Path

from benchmarks.foreign_kernels import OwnHeaders, end_of, sources, table
from services.executor.core.model.events import Finished
from services.executor.core.model.verdict import Verdict


def _folder(at: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = at / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return at


def test_a_file_is_sent_with_the_folders_own_headers_in_their_places(tmp_path: Path) -> None:
    main = '#include <hip/hip_runtime.h>\n#include "parts.h"\n#include <lib/more.hpp>\n__global__ void k() {}\n'
    folder = _folder(tmp_path, a__main_hip=main, a__parts_h='#include "../x.h"\nint parts;', x_h="int x;")
    _folder(folder, b__lib__more_hpp='#include "x.h"\nint more;', c__other_h="int other;", d_txt="__global__")
    assert list(sources(folder, 1)) == [folder / "a" / "main.hip"]
    assert OwnHeaders(folder).one_file(folder / "a" / "main.hip") == (
        "#include <hip/hip_runtime.h>\nint x;\nint parts;\n\nint more;\n__global__ void k() {}\n"
    )


def test_a_header_of_hips_is_included_with_its_folder(tmp_path: Path) -> None:
    folder = _folder(tmp_path, main_hip="#include <hip_fp16.h>\n#include <hip_nothing.h>\n__global__ void k() {}")
    text = OwnHeaders(folder).one_file(folder / "main.hip")
    assert text == "#include <hip/hip_fp16.h>\n#include <hip_nothing.h>\n__global__ void k() {}"


def test_a_header_that_two_places_of_the_folder_have_stays_included(tmp_path: Path) -> None:
    folder = _folder(tmp_path, a__main_cu="#include <one.h>", b__one_h="int b;", c__one_h="int c;")
    assert OwnHeaders(folder).one_file(folder / "a" / "main.cu") == "#include <one.h>"


def test_a_header_comes_again_behind_a_condition_under_which_it_came_first(tmp_path: Path) -> None:
    twice = '#if OTHER\n#include "./b.h"\n#endif\n#include <b.h>\n#include <b.h>\n'
    guarded = f"#ifndef A_H\n#define A_H\n{twice}#endif\n"
    folder = _folder(tmp_path, main_hip='#include "a.h"\n__global__ void k() {}\n', a_h=guarded)
    _folder(folder, b_h="#pragma once\nint b;\n", include__only_hpp="__global__ void library() {}")
    assert list(sources(folder, 1)) == [folder / "main.hip"]
    once = "#ifndef ONCE_b_h\n#define ONCE_b_h\n\nint b;\n\n#endif\n\n"
    assert OwnHeaders(folder).one_file(folder / "main.hip") == (
        f"#ifndef A_H\n#define A_H\n#if OTHER\n{once}#endif\n{once}\n#endif\n\n__global__ void k() {{}}\n"
    )


def test_files_with_the_same_cause_are_one_line(tmp_path: Path) -> None:
    text = "solution.hip:{}:1: error: no '{}'\nnote: {}: write it as C++\n"
    ends = [
        end_of(Finished(Verdict.COMPILE_ERROR, "", "", text.format(3, "f", "f")), "ran"),
        end_of(Finished(Verdict.COMPILE_ERROR, "", "", text.format(70, "g", "g")), "ran"),
        end_of(Finished(Verdict.COMPILE_ERROR, "", "The compiler itself crashed", reason="compiler_crash"), "ran"),
        end_of(Finished(Verdict.INFRA_ERROR, "", "The judge itself failed"), "ran"),
        end_of(Finished(Verdict.RUNTIME_ERROR, "", "", reason="early_exit"), "ran"),
        end_of(Finished(Verdict.ACCEPTED, "", ""), "ran"),
        end_of(Finished(Verdict.COMPILE_ERROR, "", "", "note: rccl/rccl.h: this joins several GPUs\n"), "ran"),
    ]
    assert [end for end, _ in ends[:6]] == ["refused", "refused", "crash", "crash", "another verdict", "ran"]
    assert ends[6] == ("refused rightly", "this joins several GPUs")
    assert ends[0] == ends[1] == ("refused", "write it as C++")
    assert ends[4][1] == "RUNTIME_ERROR early_exit"
    found = {
        ends[0]: [(tmp_path / "a", "takes"), (tmp_path / "b", "refuses")],
        ends[5]: [(tmp_path / "c", "did not say")],
    }
    assert list(table(tmp_path, found))[1:] == [
        "    1         0       0      1  ran (c)",
        "    2         1       1      0  refused: write it as C++ (a)",
        "    3 files, 1 of them as they should",
    ]
