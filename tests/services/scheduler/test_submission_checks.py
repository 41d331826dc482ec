from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wavepool.scheduler.v1.scheduler_pb2 import Resources, SubmitJobRequest
from wavepool.submission.v1.submission_pb2 import RUN_MODE_BENCHMARK, RUN_MODE_FULL, Submission, TimingMode

from services.scheduler.jobs.errors import InvalidRequestError
from services.scheduler.jobs.gpu_choice import in_our_names
from services.scheduler.jobs.spec import JobSpec
from services.scheduler.jobs.submission_checks import admit, fingerprint
from tests.job_specs import sound_spec
from tests.services.scheduler.cluster import PROBLEMS
from vocabulary.gpu_types import GPU_TYPES

KNOWN = {slug: entry.problem for slug, entry in PROBLEMS.items()}


def asked(account_id: str = "account-1", key: str = "key-1", **changes: Any) -> SubmitJobRequest:
    return SubmitJobRequest(account_id=account_id, idempotency_key=key, spec=sound_spec(**changes))


def admitted(**changes: Any) -> JobSpec:
    return admit(asked(**changes), KNOWN, GPU_TYPES)


def refusal(**changes: Any) -> dict[str, str]:
    with pytest.raises(InvalidRequestError) as caught:
        admitted(**changes)
    return dict(caught.value.violations)


def test_what_is_left_out_is_filled_in() -> None:
    spec = admitted()
    assert (spec.gpu_type, spec.submission.dtype, spec.submission.language) == ("MI300X", "float32", "hip")


@pytest.mark.parametrize("gpu_type", [name.lower() for name in GPU_TYPES] + [" Mi300x "])
def test_gpu_types_are_known_in_any_case(gpu_type: str) -> None:
    assert admitted(gpu_type=gpu_type).gpu_type == gpu_type.strip().upper()


def test_foreign_gpu_type_is_refused_with_the_legal_ones_and_the_nearest() -> None:
    said = refusal(gpu_type="H100")["spec.gpu_type"]
    for name in GPU_TYPES:
        assert name in said
    assert "the nearest is MI300X" in said
    assert "nearest is MI250X" in refusal(gpu_type="MI250")["spec.gpu_type"]


def test_foreign_gpu_types_are_ours_if_the_settings_map_them() -> None:
    names = {"H100": "MI300X", "t4": "MI210"}
    request = asked(gpu_type=" h100", fallback_gpu_types=("T4", "MI250X"))
    assert admit(in_our_names(request, names), KNOWN, GPU_TYPES).gpu_types == ("MI300X", "MI210", "MI250X")
    assert request.spec.gpu_type == " h100"


def test_fallbacks_are_admitted_in_their_order_and_in_any_case() -> None:
    assert admitted(fallback_gpu_types=("mi210 ", "Mi300a")).gpu_types == ("MI300X", "MI210", "MI300A")


@pytest.mark.parametrize(
    ("wanted", "fallbacks", "said"),
    [
        ("", ("MI21",), "must be one of MI300X, MI300A, MI250X, MI210; it is 'MI21', and the nearest is MI210"),
        ("", ("",), "it is '', and the nearest is MI300X"),
        (
            "",
            ("mi300x",),
            "MI300X is the GPU type that is wanted; leave it out, or give another: MI300A, MI250X, MI210",
        ),
        ("MI210", ("MI250X", "mi250x"), "MI250X is named twice; leave it out, or give another: MI300X, MI300A"),
        ("MI210", ("MI250X", "MI300X", "MI300A", "MI300A"), "MI300A is named twice; leave it out"),
    ],
)
def test_fallbacks_that_are_none_are_refused_with_the_fix(wanted: str, fallbacks: tuple[str, ...], said: str) -> None:
    wrong = refusal(gpu_type=wanted, fallback_gpu_types=fallbacks)
    assert list(wrong) == ["spec.fallback_gpu_types"]
    assert said in wrong["spec.fallback_gpu_types"]


def test_everything_that_is_wrong_is_named_at_once() -> None:
    wrong = refusal(account_id="", key="", source="", gpu_type="H100", language="mojo", priority=101, mode=0)
    assert set(wrong) == {
        "account_id",
        "idempotency_key",
        "spec.submission.source",
        "spec.submission.language",
        "spec.submission.mode",
        "spec.gpu_type",
        "spec.priority",
    }


@pytest.mark.parametrize(
    "other",
    [
        {"source": "// other"},
        {"launch_plan": "{}"},
        {"problem_definition": "{}"},
        {"problem": "relu"},
        {"dtype": "float16"},
        *({"timing_mode": number} for number in TimingMode.values() if number),
    ],
)
def test_another_submission_has_another_fingerprint(other: dict[str, Any]) -> None:
    spec = admitted(mode=RUN_MODE_FULL)
    changed = Submission()
    changed.CopyFrom(spec.submission)
    changed.MergeFrom(Submission(**other))
    assert fingerprint(replace(spec, submission=changed)) != fingerprint(spec)


def test_fingerprint_tells_what_was_asked_for_apart_and_not_how_it_was_spelt() -> None:
    spec = admitted()
    assert fingerprint(spec) == fingerprint(admitted(gpu_type="mi300x", dtype="fp32"))
    choices = [(), ("MI210",), ("MI250X",), ("MI210", "MI250X"), ("MI250X", "MI210")]
    others = [replace(spec, fallback_gpu_types=one) for one in choices] + [replace(spec, priority=1)]
    assert len({fingerprint(one) for one in others}) == len(others)


@given(
    st.builds(
        asked,
        account_id=st.text(max_size=5),
        key=st.text(max_size=5),
        gpu_type=st.text(max_size=10) | st.sampled_from(GPU_TYPES),
        priority=st.integers(-200, 200),
        fallback_gpu_types=st.lists(st.text(max_size=5) | st.sampled_from(GPU_TYPES), max_size=5),
    )
)
def test_any_request_is_either_admitted_in_canonical_words_or_refused_by_name(request: SubmitJobRequest) -> None:
    try:
        spec = admit(request, KNOWN, GPU_TYPES)
    except InvalidRequestError as error:
        refused = error
    else:
        assert spec.gpu_type in GPU_TYPES
        assert len(set(spec.gpu_types) & set(GPU_TYPES)) == len(spec.gpu_types)
        return
    assert all(field and description for field, description in refused.violations)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"resources": Resources(fraction=0.5)}, "is for whole GPUs"),
        ({"resources": Resources(quiet=True)}, "a quiet run is never moved"),
        ({"mode": RUN_MODE_FULL}, "measure times"),
        ({"mode": RUN_MODE_BENCHMARK}, "measure times"),
    ],
)
def test_what_is_quiet_timed_or_less_than_a_gpu_is_not_moved(changes: dict[str, Any], words: str) -> None:
    assert words in refusal(movable=True, **changes)["spec.movable"]
    assert not admitted(**changes).movable


@pytest.mark.parametrize("name", ["x" * 101, "two\nlines"])
def test_a_name_is_a_short_line(name: str) -> None:
    assert "at most 100 printable characters" in refusal(name=name)["spec.name"]
    assert admitted(name="softmax ü.hip").name == "softmax ü.hip"


def test_a_range_and_leave_to_move_make_another_job_and_leaving_them_out_does_not() -> None:
    plain, wide = admitted(resources=Resources(gpus=4)), admitted(resources=Resources(gpus=4, least_gpus=1))
    movable = admitted(movable=True, resources=Resources(gpus=4))
    assert movable.movable
    assert len({fingerprint(one) for one in (plain, wide, movable)}) == 3
