from __future__ import annotations

import pytest

from services.billing.errors import PriceNotFoundError
from services.billing.pricing import PriceList


def test_an_unknown_gpu_type_lists_those_that_have_a_price() -> None:
    with pytest.raises(PriceNotFoundError, match=r"H100.*MI300X, MI210"):
        PriceList({"MI300X": 1, "MI210": 2}).price_of("H100")
