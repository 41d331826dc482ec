"""The wavefronts that fit on a SIMD, against AMD's limits and for all demands."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.executor.devices.gfx942.occupancy import (
    LDS_BYTES,
    MAX_WAVEFRONTS,
    VECTOR_REGISTERS,
    Demand,
    Limit,
    occupancy_of,
    saving_for_next_step,
)

demands = st.builds(
    Demand,
    vector_registers=st.integers(0, VECTOR_REGISTERS),
    scalar_registers=st.integers(0, 112),
    lds_bytes=st.integers(0, LDS_BYTES),
    block_threads=st.integers(1, 1024),
)


@pytest.mark.parametrize(
    ("registers", "wavefronts"),
    [(1, 8), (64, 8), (65, 7), (72, 7), (73, 6), (80, 6), (96, 5), (128, 4), (129, 3), (168, 3), (256, 2), (512, 1)],
)
def test_registers_allow_as_many_wavefronts_as_llvm_says_for_gfx942(registers: int, wavefronts: int) -> None:
    assert occupancy_of(Demand(registers, 16, 0, 64)).wavefronts == wavefronts


@pytest.mark.parametrize(
    ("lds_bytes", "block_threads", "wavefronts"),
    [(0, 256, 8), (8192, 256, 8), (8193, 256, 7), (16384, 256, 4), (65536, 256, 1), (65536, 1024, 4), (33000, 64, 0)],
)
def test_lds_allows_whole_blocks(lds_bytes: int, block_threads: int, wavefronts: int) -> None:
    assert occupancy_of(Demand(8, 16, lds_bytes, block_threads)).wavefronts == wavefronts


def test_the_limit_is_named() -> None:
    assert occupancy_of(Demand(8, 16, 0, 256)).limit is Limit.WAVEFRONTS
    assert occupancy_of(Demand(200, 16, 0, 256)).limit is Limit.VECTOR_REGISTERS
    assert occupancy_of(Demand(8, 16, 40000, 256)).limit is Limit.LDS
    assert occupancy_of(Demand(8, 16, 0, 832)).limit is Limit.BLOCK_SIZE


@given(demands, st.sampled_from(["vector_registers", "scalar_registers", "lds_bytes"]), st.integers(0, 4096))
def test_less_of_anything_never_lets_fewer_wavefronts_in(demand: Demand, name: str, amount: int) -> None:
    less = replace(demand, **{name: max(0, getattr(demand, name) - amount)})
    assert occupancy_of(less).wavefronts >= occupancy_of(demand).wavefronts


@given(demands)
def test_wavefronts_stay_within_the_simd(demand: Demand) -> None:
    assert 0 <= occupancy_of(demand).wavefronts <= MAX_WAVEFRONTS


@given(demands)
def test_what_fits_takes_no_more_than_there_is(demand: Demand) -> None:
    wavefronts = occupancy_of(demand).wavefronts
    block_wavefronts = -(-demand.block_threads // 64)
    assert wavefronts * demand.vector_registers <= VECTOR_REGISTERS
    assert (wavefronts * 4 // block_wavefronts) * demand.lds_bytes <= LDS_BYTES


@given(demands)
def test_the_saving_that_is_named_lets_one_more_in_and_less_of_it_does_not(demand: Demand) -> None:
    saving = saving_for_next_step(demand)
    if saving is None:
        return
    limit, amount = saving
    name = "lds_bytes" if limit is Limit.LDS else "vector_registers"
    now = occupancy_of(demand).wavefronts
    assert occupancy_of(replace(demand, **{name: getattr(demand, name) - amount})).wavefronts > now
    assert occupancy_of(replace(demand, **{name: getattr(demand, name) - amount + 1})).wavefronts == now


@pytest.mark.parametrize(
    ("name", "value"), [("vector_registers", 513), ("lds_bytes", 65537), ("block_threads", 0), ("scalar_registers", -1)]
)
def test_an_impossible_demand_names_the_field(name: str, value: int) -> None:
    with pytest.raises(ValueError, match=f"{name} is {value}; it must be"):
        occupancy_of(replace(Demand(8, 16, 0, 64), **{name: value}))
