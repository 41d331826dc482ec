from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vocabulary.names import known_name, nearest_name, none_of

NAMES = ("MI300X", "MI300A", "MI250X", "MI210")


def test_a_name_is_found_in_any_case_and_with_blanks_around_it() -> None:
    assert known_name(" mi250x ", NAMES) == "MI250X"
    assert known_name("MI250", NAMES) == known_name("", NAMES) == ""


@given(st.text())
def test_the_nearest_of_any_text_is_one_of_the_names(text: str) -> None:
    assert nearest_name(text, NAMES) in NAMES


def test_the_nearest_is_looked_for_in_any_case_and_may_have_to_be_alike() -> None:
    assert nearest_name("mi-250", NAMES) == "MI250X"
    assert nearest_name("H100", NAMES, 0.6) == ""
    assert nearest_name("MI300X", ()) == ""


def test_a_refusal_has_the_legal_names_and_the_nearest_and_repeats_little() -> None:
    said = none_of("MI30" + "x" * 1000, NAMES)
    assert said.startswith("must be one of MI300X, MI300A, MI250X, MI210; it is 'MI30xxx")
    assert said.endswith("and the nearest is MI300X")
    assert len(said) < 150
    assert none_of("H100", NAMES[::-1], 0.6).endswith("and the nearest is MI210")
