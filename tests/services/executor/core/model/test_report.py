from __future__ import annotations

import json
import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.model.report import canonical_json

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(values)
def test_it_is_json_of_the_same_value_on_one_line_without_spaces(value: Any) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert "\n" not in text


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_keys_does_not_show(mapping: dict[str, int]) -> None:
    backwards = dict(reversed(list(mapping.items())))
    assert canonical_json(mapping) == canonical_json(backwards)


def test_what_json_lacks_becomes_null_at_any_depth() -> None:
    assert canonical_json({"b": (math.nan, [math.inf]), "a": -math.inf}) == '{"a":null,"b":[null,[null]]}'
