from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.seeds import RunSeed

labels = st.tuples(st.sampled_from(["inputs", "poison"]), st.integers(0, 2**40), st.integers(0, 2**40))


def _bits(seed: RunSeed, label: tuple[str, int, int]) -> bytes:
    return seed.generator(*label).bytes(32)


@given(st.integers(), labels)
def test_a_number_gives_the_same_inputs_again(number: int, label: tuple[str, int, int]) -> None:
    assert _bits(RunSeed(number), label) == _bits(RunSeed(number), label)
    assert RunSeed(number).commitment == RunSeed(number).commitment


@given(st.lists(labels, min_size=2, max_size=6, unique=True))
def test_every_purpose_has_randomness_of_its_own(several: list[tuple[str, int, int]]) -> None:
    seed = RunSeed()
    assert len({_bits(seed, label) for label in several}) == len(several)


def test_without_a_number_every_run_differs() -> None:
    assert RunSeed().commitment != RunSeed().commitment
    assert _bits(RunSeed(), ("inputs", 0, 0)) != _bits(RunSeed(), ("inputs", 0, 0))
