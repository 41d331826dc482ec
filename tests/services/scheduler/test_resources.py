"""Requests for GPUs become a size, or are refused with the field and the fix."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wavepool.scheduler.v1 import scheduler_pb2

from services.scheduler.jobs.resources import (
    DEVICES_OF_A_GPU,
    GpuMode,
    Isolation,
    Resources,
    mode_text,
    modes_for,
    resources_of,
    resources_to_proto,
)
from vocabulary.slots import LEGAL_EIGHTHS, LEGAL_SIZES

MI300X_MIB = 192 * 1024


def resources(*gpu_types: str, **asked: object) -> Resources:
    found, wrong = resources_of(scheduler_pb2.Resources(**asked), gpu_types or ("MI300X",))  # type: ignore[arg-type]
    assert not wrong, wrong
    return found


def fault(*gpu_types: str, **asked: object) -> tuple[str, str]:
    _, wrong = resources_of(scheduler_pb2.Resources(**asked), gpu_types or ("MI300X",))  # type: ignore[arg-type]
    ((field, text),) = wrong
    return field.removeprefix("spec.resources").removeprefix("."), text


def test_without_a_request_it_is_one_whole_gpu() -> None:
    assert resources() == Resources(8, Isolation.EXCLUSIVE, 0)


@pytest.mark.parametrize(
    ("fraction", "eighths"), [(0.1, 1), (0.125, 1), (0.13, 2), (0.25, 2), (0.3, 4), (0.5, 4), (0.51, 8), (1.0, 8)]
)
def test_a_fraction_is_rounded_up_to_the_next_size(fraction: float, eighths: int) -> None:
    assert resources(fraction=fraction).eighths == eighths


@given(st.floats(0.1, 1.0))
def test_a_fraction_gets_at_least_what_it_asks_for_and_less_than_twice_that(fraction: float) -> None:
    got = resources(fraction=fraction).eighths / 8

    assert got >= fraction - 1e-9
    assert got < 2 * fraction + 1e-9 or got == 1 / 8


@pytest.mark.parametrize(
    ("memory_mib", "eighths"),
    [(1, 1), (24 * 1024, 1), (24 * 1024 + 1, 2), (MI300X_MIB, 8), (MI300X_MIB + 1, 16), (8 * MI300X_MIB, 64)],
)
def test_memory_becomes_the_smallest_size_that_holds_it(memory_mib: int, eighths: int) -> None:
    assert resources(memory_mib=memory_mib).eighths == eighths


def test_memory_must_be_there_on_every_allowed_type() -> None:
    assert resources("MI300X", "MI210", memory_mib=64 * 1024).eighths == 8


@pytest.mark.parametrize(
    ("asked", "field", "hint"),
    [
        ({"gpus": 3}, "gpus", "one of 1, 2, 4, 8"),
        ({"gpus": -1}, "gpus", "one of 1, 2, 4, 8"),
        ({"fraction": 0.05}, "fraction", "from 0.1 to 1"),
        ({"fraction": 1.5}, "fraction", "for several GPUs give gpus"),
        ({"fraction": math.nan}, "fraction", "from 0.1 to 1"),
        ({"fraction": -0.5}, "fraction", "from 0.1 to 1"),
        ({"memory_mib": -1}, "memory_mib", "above 0"),
        ({"memory_mib": 9 * MI300X_MIB}, "memory_mib", "have 1572864"),
        ({"gpus": 1, "fraction": 0.5}, "", "give one of"),
        ({"fraction": 0.5, "isolation": 1}, "isolation", "ask for a whole GPU"),
        ({"gpus": 2, "isolation": 3}, "isolation", "parts of a GPU"),
        ({"isolation": 99}, "isolation", "EXCLUSIVE, PARTITION, TIME_SLICE"),
        ({"fraction": 0.5, "quiet": True}, "quiet", "whole GPU"),
        ({"devices": 2, "single_device": True}, "devices", "beside single_device"),
        ({"fraction": 0.5, "devices": 8}, "devices", "can be 1, 2, 4"),
        ({"gpus": 2, "devices": 3}, "devices", "can be 2, 4, 8, 16"),
        ({"gpus": 2, "single_device": True}, "devices", "can be 2, 4, 8, 16"),
    ],
)
def test_a_wrong_request_names_the_field_and_what_is_possible(asked: dict[str, object], field: str, hint: str) -> None:
    found, text = fault(**asked)

    assert found == field
    assert hint in text


def test_memory_of_a_type_that_nobody_knows_is_refused_with_what_to_give_instead() -> None:
    assert fault("H100", memory_mib=1) == ("memory_mib", "the memory of H100 is not known; give a fraction or gpus")


@pytest.mark.parametrize(
    ("asked", "devices", "runs_per_device", "fits"),
    [
        # Half a GPU in CPX mode is four devices; half as one device needs DPX.
        ({"fraction": 0.5}, 8, 1, True),
        ({"fraction": 0.5, "devices": 4}, 8, 1, True),
        ({"fraction": 0.5, "single_device": True}, 8, 1, False),
        ({"fraction": 0.5, "single_device": True}, 2, 1, True),
        ({"fraction": 0.5}, 1, 8, False),
        ({"fraction": 0.125}, 4, 8, False),
        ({"fraction": 0.5, "isolation": 3}, 1, 2, True),
        ({"fraction": 0.5, "isolation": 3}, 1, 1, False),
        ({"fraction": 0.125, "isolation": 3}, 4, 2, True),
        ({"gpus": 2}, 8, 1, True),
        ({"gpus": 2, "devices": 2}, 1, 1, True),
        ({"gpus": 2, "devices": 2}, 2, 1, False),
        ({"single_device": True}, 8, 1, False),
    ],
)
def test_gpus_fit_in_the_modes_that_can_give_it(
    asked: dict[str, object], devices: int, runs_per_device: int, fits: bool
) -> None:
    assert resources(**asked).fits(GpuMode(devices, runs_per_device)) == fits


@pytest.mark.parametrize(
    ("mode", "fits"),
    [
        (GpuMode(runs_per_device=2, masks_compute_units=True), True),
        (GpuMode(runs_per_device=2), False),
        (GpuMode(masks_compute_units=True), False),
        (GpuMode(2), True),
    ],
)
def test_compute_units_of_ones_own_are_of_a_shared_device_that_can_mask_them_or_of_a_partition(
    mode: GpuMode, fits: bool
) -> None:
    assert resources(fraction=0.5, isolation=4).fits(mode) == fits


@given(st.sampled_from(LEGAL_EIGHTHS[:3]), st.sampled_from(DEVICES_OF_A_GPU))
def test_a_partition_is_never_shared(eighths: int, device_count: int) -> None:
    """Slots are aligned, so devices are shared only if a slot is smaller than a device."""
    is_whole_devices = eighths * device_count >= 8

    assert Resources(eighths, Isolation.PARTITION).fits(GpuMode(device_count, 9, True)) == is_whole_devices


@given(st.sampled_from(LEGAL_SIZES), st.sampled_from([0, 1, 2, 4, 8]))
def test_what_an_admitted_job_shows_asks_for_the_same_again(eighths: int, devices: int) -> None:
    for isolation in Isolation:
        shown = resources_to_proto(Resources(eighths, isolation, devices))
        again, wrong = resources_of(shown, ("MI300X",))
        assert wrong or again == Resources(eighths, isolation, devices)


@pytest.mark.parametrize(
    ("asked", "text"),
    [
        ({}, "1 GPU"),
        ({"gpus": 4}, "4 GPUs"),
        ({"fraction": 0.5}, "4/8 of a GPU (partition)"),
        ({"fraction": 0.2, "isolation": 3, "single_device": True}, "2/8 of a GPU as 1 device (time-slice)"),
    ],
)
def test_it_is_said_in_words(asked: dict[str, object], text: str) -> None:
    assert str(resources(**asked)) == text


@pytest.mark.parametrize(
    ("resources", "modes"),
    [
        (Resources(4, Isolation.PARTITION, 1), ["DPX (1 device of 96 GB)"]),
        (
            Resources(4, Isolation.PARTITION),
            ["DPX (1 device of 96 GB)", "QPX (2 devices of 48 GB each)", "CPX (4 devices of 24 GB each)"],
        ),
        (Resources(1, Isolation.PARTITION), ["CPX (1 device of 24 GB)"]),
        (Resources(8, Isolation.EXCLUSIVE, 1), ["SPX (1 device of 192 GB)"]),
        (Resources(16, Isolation.EXCLUSIVE, 16), ["CPX (8 devices of 24 GB each)"]),
    ],
)
def test_the_modes_that_give_a_part_are_those_with_such_devices(resources: Resources, modes: list[str]) -> None:
    assert modes_for(resources, "mi300x") == modes
    assert modes_for(resources, "MI210") == []


def test_a_mode_has_its_name_if_the_type_has_such_modes() -> None:
    assert mode_text("MI300X", 4) == "QPX mode"
    assert mode_text("MI300X", 3) == "3 devices each"
    assert mode_text("MI210", 1) == "1 device each"


def test_a_range_starts_with_the_least_or_more_and_counts_as_the_most() -> None:
    asked = scheduler_pb2.Resources(gpus=4, least_gpus=1)
    found, wrong = resources_of(asked, ["MI300X"])
    assert (found, wrong) == (Resources(32, Isolation.EXCLUSIVE, 0, 8), [])
    assert (found.least, found.sized(16)) == (Resources(8), Resources(16))
    assert str(found) == "1 to 4 GPUs"
    shown = resources_to_proto(found)
    assert (shown.gpus, shown.least_gpus) == (4, 1)
    assert resources_of(scheduler_pb2.Resources(gpus=4, least_gpus=4), ["MI300X"])[0] == Resources(32)


@pytest.mark.parametrize(
    ("asked", "field", "words"),
    [
        ({"least_gpus": 2}, "least_gpus", "without gpus"),
        ({"least_gpus": 4, "gpus": 2}, "least_gpus", "one of 1, 2"),
        ({"least_gpus": 3, "gpus": 8}, "least_gpus", "one of 1, 2, 4, 8"),
        ({"least_gpus": -1, "gpus": 8}, "least_gpus", "one of 1, 2, 4, 8"),
        ({"least_gpus": 1, "gpus": 2, "devices": 2}, "devices", "range"),
        ({"least_gpus": 1, "fraction": 0.5}, "least_gpus", "without gpus"),
    ],
)
def test_a_wrong_range_is_refused_with_the_field_and_the_fix(asked: dict[str, Any], field: str, words: str) -> None:
    [(where, fault)] = resources_of(scheduler_pb2.Resources(**asked), ["MI300X"])[1]
    assert where == f"spec.resources.{field}"
    assert words in fault
