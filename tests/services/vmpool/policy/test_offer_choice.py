from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.vmpool.fault import Fault
from services.vmpool.machines.offer import Offer, Source
from services.vmpool.policy.failures import Failures
from services.vmpool.policy.machine_budget import Funds
from services.vmpool.policy.offer_choice import Market, OfferPolicy, SpotPolicy, Terms, choose_offer
from tests.services.vmpool.conftest import START

if TYPE_CHECKING:
    from collections.abc import Sequence

    from services.vmpool.policy.offer_choice import Choice

DOLLAR = 1_000_000
HOUR = timedelta(hours=1)


def offer(backend: str = "hotaisle", dollars: float = 2, **changes: Any) -> Offer:
    fields: dict[str, Any] = {"provider": "dstack", "gpu_type": "MI300X", "gpu_count": 1}
    return Offer(backend=backend, price_micros_per_hour=int(dollars * DOLLAR), **(fields | changes))


def choose(
    offers: Sequence[Offer], terms: Terms | None = None, gpu_types: Sequence[str] = ("MI300X",), gpus: int = 1
) -> Choice:
    return choose_offer(gpu_types, Market(offers), terms or Terms(), START, gpus)


def failed(fault: Fault = Fault.NO_CAPACITY, backend: str = "hotaisle", gpu_type: str = "MI300X") -> Terms:
    source = Source("dstack", backend, gpu_type)
    return Terms(backing_off={source: Failures(3, START, "the region is full", fault)})


def test_the_cheapest_of_equal_backends_is_taken() -> None:
    assert choose([offer("a", 3), offer("b", 2), offer("c", 4)]).offer == offer("b", 2)


def test_a_preferred_backend_comes_before_a_cheaper_one() -> None:
    offers = [offer("a", 2), offer("b", 3)]
    for name in ("b", "dstack/b"):
        assert choose(offers, Terms(OfferPolicy(backends=(name,)))).offer == offer("b", 3)


def test_providers_come_in_the_order_of_the_settings() -> None:
    first, second = offer("", 3, provider="first"), offer("", 2, provider="second")
    assert choose([first, second]).offer == first
    assert choose([first, second], Terms(OfferPolicy(backends=("second",)))).offer == second


def test_a_minimum_counts_in_what_is_cheap() -> None:
    by_the_hour, by_three = offer("a", 2), offer("b", 1, minimum_billed=3 * HOUR)
    assert choose([by_three, by_the_hour]).offer == by_the_hour


def test_a_full_backend_gives_way_to_the_next_at_once_and_its_words_are_reported() -> None:
    choice = choose([offer("hotaisle", 2), offer("amddevcloud", 3)], failed())
    assert choice.offer == offer("amddevcloud", 3)
    assert choice.outlook == (
        "MI300X at dstack/hotaisle: the region is full (3 times in a row); tried again in 8 s, at 00:00:08 UTC; "
        "trying MI300X at dstack/amddevcloud now"
    )


def test_fallback_types_come_in_the_order_of_the_request() -> None:
    offers = [offer(gpu_type=gpu_type) for gpu_type in ("MI210", "MI250X", "MI300X")]
    assert choose(offers, failed(), ("MI300X", "MI250X", "MI210")).offer == offer(gpu_type="MI250X")
    assert choose(offers, failed(), ("MI300X",)).offer is None


def test_what_the_settings_break_waits_for_the_operator() -> None:
    choice = choose([offer()], failed(Fault.MISCONFIGURED))
    assert "once `wavepool doctor` finds no fault of the provider" in choice.outlook


@pytest.mark.parametrize(
    ("policy", "other", "words"),
    [
        (OfferPolicy(), offer(spot=True), "it is spot, and the setting is on-demand"),
        (OfferPolicy(spot=SpotPolicy.SPOT), offer(), "it is on-demand, and the setting is spot"),
        (OfferPolicy(), offer(gpu_count=8), "a machine with 1 MI300X now, only with 8"),
        (OfferPolicy(), offer(available=False), "has none now"),
        (OfferPolicy(max_price_micros_per_gpu_hour=DOLLAR), offer(), "$2.00 per GPU hour is above the limit of $1.00"),
    ],
)
def test_offers_that_the_operator_does_not_want_are_passed_over(policy: OfferPolicy, other: Offer, words: str) -> None:
    choice = choose([other], Terms(policy))
    assert (choice.offer, words in choice.outlook) == (None, True)


def test_the_price_limit_is_for_one_gpu() -> None:
    policy = OfferPolicy(max_price_micros_per_gpu_hour=2 * DOLLAR, gpu_count=8)
    assert choose([offer(dollars=16, gpu_count=8)], Terms(policy)).offer
    assert choose([offer(dollars=17, gpu_count=8)], Terms(policy)).offer is None


LARGER = OfferPolicy(larger_gpu_counts=(4, 8))


def test_work_on_several_gpus_gets_the_cheapest_machine_that_has_enough() -> None:
    offers = [offer(dollars=2), offer(dollars=15, gpu_count=8), offer("a", 9, gpu_count=4), offer("b", 8, gpu_count=4)]
    taken = {gpus: choose(offers, Terms(LARGER), gpus=gpus) for gpus in (1, 2, 4, 8)}
    assert {gpus: choice.offer for gpus, choice in taken.items()} == {
        1: offer(dollars=2),
        2: offer("b", 8, gpu_count=4),
        4: offer("b", 8, gpu_count=4),
        8: offer(dollars=15, gpu_count=8),
    }
    assert {choice.outlook for choice in taken.values()} == {""}


def test_a_larger_machine_than_needed_is_taken_if_the_next_size_cannot_be_had() -> None:
    offers = [offer("a", 8, gpu_count=4, available=False), offer("a", 16, gpu_count=8)]
    choice = choose(offers, Terms(LARGER), gpus=4)
    assert choice.offer == offer("a", 16, gpu_count=8)
    assert choice.outlook == "MI300X at dstack/a: the provider has none now; trying MI300X at dstack/a now"


def test_work_that_needs_more_gpus_than_any_machine_has_hears_what_there_is() -> None:
    offers = [offer(), offer(gpu_count=4)]
    assert choose(offers, Terms(LARGER), gpus=8).outlook == (
        "no machine with 8 MI300X or more can be had: the providers offer 1, 4, and VMPOOL_GPUS_PER_MACHINE allows "
        "1, 4, 8"
    )


def test_sizes_that_the_operator_has_not_allowed_are_not_rented() -> None:
    choice = choose([offer(gpu_count=2), offer(gpu_count=8)], Terms(OfferPolicy(larger_gpu_counts=(4,))), gpus=2)
    assert (choice.offer, "offer 2, 8, and VMPOOL_GPUS_PER_MACHINE allows 1, 4" in choice.outlook) == (None, True)


def test_either_kind_will_do_where_the_policy_says_so() -> None:
    assert choose([offer("a", 2), offer("b", 1, spot=True)], Terms(OfferPolicy(spot=SpotPolicy.AUTO))).offer == offer(
        "b", 1, spot=True
    )


def test_a_backend_that_is_too_dear_for_what_is_left_gives_way_to_a_cheaper_one() -> None:
    terms = Terms(OfferPolicy(backends=("a",)), funds=Funds(2 * DOLLAR, 100 * DOLLAR))
    choice = choose([offer("a", 3), offer("b", 2)], terms)
    assert choice.offer == offer("b", 2)
    assert "$2.00 of the machine budget of $100.00 is left" in choice.outlook


def test_providers_that_make_no_offers_are_reported() -> None:
    choice = choose_offer(("MI300X",), Market((), ("provider dstack makes no offers now: 403",)), Terms(), START)
    assert choice.outlook == "no provider offers MI300X now; provider dstack makes no offers now: 403"


offers = st.lists(
    st.builds(
        offer,
        st.sampled_from(["a", "b", "c"]),
        st.integers(0, 9),
        gpu_type=st.sampled_from(["MI300X", "MI210"]),
        gpu_count=st.sampled_from([1, 2, 8]),
        spot=st.booleans(),
        available=st.booleans(),
        provider=st.sampled_from(["one", "two"]),
    ),
    max_size=6,
)


@given(
    offers=offers,
    limit=st.integers(0, 5),
    spot=st.sampled_from(SpotPolicy),
    left=st.integers(0, 9),
    gpus=st.sampled_from([1, 2, 8]),
)
def test_no_choice_breaks_a_rule_and_no_better_one_was_free(
    offers: list[Offer], limit: int, spot: SpotPolicy, left: int, gpus: int
) -> None:
    policy = OfferPolicy(("b",), spot, limit * DOLLAR, larger_gpu_counts=(2, 8))
    terms = Terms(policy, funds=Funds(left * DOLLAR, 9 * DOLLAR))
    choice = choose(offers, terms, ("MI300X", "MI210"), gpus)
    right = [other for other in offers if (other.gpu_count == 1 if gpus == 1 else other.gpu_count >= gpus)]
    fitting = [other for other in right if not terms.objection(other, START)]
    assert (choice.offer is None) is (not fitting)
    if choice.offer:
        assert choice.offer in fitting
        wanted = [other for other in fitting if other.gpu_type == "MI300X"]
        assert choice.offer.gpu_type == "MI300X" or not wanted
    else:
        assert choice.outlook
