from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.compile.cpp_tokens import Header, Name, words


def names(source: str) -> list[str]:
    return [word.text for word in words(source) if isinstance(word, Name)]


@pytest.mark.parametrize(
    "source",
    [
        "// hidden",
        "/* hidden\n hidden */",
        "/* never closed hidden",
        '"hidden"',
        r'"a \" hidden"',
        'R"(hidden)"',
        'R"mark( " )" hidden )mark"',
        'u8R"(hidden)"',
        "'hidden'",
        "1'000hidden",
        "0x1p-3hidden",
        "// spliced \\\n hidden",
    ],
)
def test_comments_literals_and_numbers_hold_no_names(source: str) -> None:
    assert "hidden" not in names(f"{source}\n")


@pytest.mark.parametrize(
    "source",
    [
        "shown",
        '"a" shown "b"',
        "/* a */ shown /* b */",
        "// a\nshown",
        "sho\\\nwn",
        "sho\\ \r\nwn",
        "sho##wn",
        "sho ## wn",
        "sho%:%:wn",
        "sho\\\rwn",
        "sho\\\v\f\nwn",
        "// a comment ends here\rshown",
        '"a string too\rshown',
        "#define f(x) shown(x)",
        "a.shown()",
        "x = 'a' + shown",
        "1 + shown",
        "R(shown)",
    ],
)
def test_names_are_found_wherever_code_stands(source: str) -> None:
    assert "shown" in names(source)


def test_qualified_names_are_read_whole() -> None:
    assert names("std :: sort(a); ::std::sort; x.sort") == ["std::sort", "a", "std::sort", "x", "sort"]


def test_headers_are_found_with_and_without_spaces() -> None:
    source = '#include <a/b.h>\n  #  include "c.h"\n%:include<d>\n#include MACRO\n'
    assert [word for word in words(source) if isinstance(word, Header)] == [
        Header("a/b.h", 1),
        Header("c.h", 2),
        Header("d", 3),
    ]
    assert "MACRO" in names(source)


def test_lines_are_those_of_the_text_as_it_was_written() -> None:
    assert words("a \\\n b\n/* \n\n */ c\nd##\\\ne") == [Name("a", 1), Name("b", 2), Name("c", 5), Name("de", 6)]


@given(st.text(alphabet="aRu8\"'/*\\\n #%:<>()x1.", max_size=200))
def test_any_text_is_read_and_its_lines_exist(text: str) -> None:
    assert all(1 <= word.line <= text.count("\n") + 1 for word in words(text))


def test_lines_are_counted_by_every_kind_of_line_end() -> None:
    assert [word.line for word in words("a\rb\r\nc\nd") if isinstance(word, Name)] == [1, 2, 3, 4]


def test_what_a_macro_stands_for_may_be_a_header() -> None:
    assert Header("cub/cub.cuh", 1) in words("#define H <cub/cub.cuh>\n#include H\n")
