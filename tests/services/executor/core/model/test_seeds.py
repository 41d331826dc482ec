from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from services.executor.core.model.seeds import RunSeed

labels = st.tuples(st.sampled_from(["inputs", "poison"]), st.integers(0, 2**40), st.integers(0, 2**40))


def _bits(seed: RunSeed, label: tuple[str, int, int]) -> bytes:
    return seed.generator(*label).bytes(32)


@given(st.text(min_size=1), labels)
def test_a_text_gives_the_same_inputs_again(text: str, label: tuple[str, int, int]) -> None:
    assert _bits(RunSeed(text), label) == _bits(RunSeed(text), label)
    assert RunSeed(text).commitment == RunSeed(text).commitment


@given(labels)
def test_a_revealed_secret_gives_the_inputs_of_its_run(label: tuple[str, int, int]) -> None:
    run = RunSeed()
    replay = RunSeed(run.reveal())
    assert _bits(replay, label) == _bits(run, label)
    assert hashlib.sha256(bytes.fromhex(run.reveal())).hexdigest() == run.commitment


@given(st.lists(labels, min_size=2, max_size=6, unique=True))
def test_every_purpose_has_randomness_of_its_own(several: list[tuple[str, int, int]]) -> None:
    seed = RunSeed()
    assert len({_bits(seed, label) for label in several}) == len(several)


def test_without_a_text_every_run_differs() -> None:
    assert RunSeed().commitment != RunSeed().commitment
    assert _bits(RunSeed(), ("inputs", 0, 0)) != _bits(RunSeed(), ("inputs", 0, 0))
