from __future__ import annotations

import math

import pytest

from gateway.words.json_values import from_json, json_safe, to_json


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (math.nan, "null"),
        ({"a": [math.inf, -math.inf, 1.5]}, '{"a":[null,null,1.5]}'),
        (2**53, "9007199254740992"),
        (2**53 + 1, '"9007199254740993"'),
        ([-(2**60)], '["-1152921504606846976"]'),
        ((True, None, "x"), '[true,null,"x"]'),
    ],
)
def test_values_that_browsers_cannot_hold_are_replaced(value: object, text: str) -> None:
    assert to_json(value).decode() == text


def test_values_are_safe_before_they_are_text() -> None:
    assert json_safe({"a": (math.nan, 2**60)}) == {"a": [None, str(2**60)]}


def test_text_that_is_not_json_is_shown_as_it_is() -> None:
    assert from_json('{"x": 1}') == {"x": 1}
    assert from_json("{oops") == "{oops"
