from __future__ import annotations

import json
import math

from services.executor.core.model import events
from services.executor.core.model.plain import plain


def test_floats_that_json_lacks_are_words() -> None:
    text = json.dumps(plain(events.Mismatch("y", (1, 2), math.nan, -math.inf, math.inf)), allow_nan=False)
    values = json.loads(text)
    assert (values["expected"], values["actual"], values["difference"]) == ("NaN", "-Infinity", "Infinity")
    assert values["index"] == [1, 2]
