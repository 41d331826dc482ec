from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems.kit.signature import Initial, parse_signature
from services.scheduler.jobs.errors import InvalidSubmissionError, UnknownProblemError
from services.scheduler.jobs.spec import Mode, Texts, TimingMode
from services.scheduler.jobs.submission_checks import (
    TIMED_MODES,
    CatalogueProblem,
    Submission,
    admit,
    fingerprint,
)
from vocabulary.gpu_types import GPU_TYPES
from vocabulary.limits import MAX_DEFINITION_BYTES, MAX_SOURCE_BYTES

PARAMETERS = parse_signature("const float* input, float* output, size_t n", {"output": Initial.POISON}, frozenset())
PROBLEMS = {
    "leaky-relu": CatalogueProblem(("float32", "float16"), PARAMETERS),
    "matrix-vector": CatalogueProblem(("float32",)),
}
PLAN = '{"launches": [{"kernel": "k", "grid": ["ceil_div(n, 256)"], "block": [256], "args": ["input", "output", "n"]}]}'
GOOD = Submission(
    account_id="account-1",
    idempotency_key="key-1",
    problem="leaky-relu",
    texts=Texts('extern "C" void solution() {}'),
    mode=Mode.FULL,
    gpu_type="",
    dtype="",
    language="",
    priority=0,
)


def refusal(submission: Submission) -> dict[str, str]:
    with pytest.raises(InvalidSubmissionError) as caught:
        admit(submission, PROBLEMS, GPU_TYPES)
    return dict(caught.value.violations)


def test_what_is_left_out_is_filled_in() -> None:
    spec = admit(GOOD, PROBLEMS, GPU_TYPES)
    assert (spec.gpu_type, spec.dtype, spec.language) == ("MI300X", "float32", "hip")


@pytest.mark.parametrize("gpu_type", [name.lower() for name in GPU_TYPES] + [" Mi300x "])
def test_gpu_types_are_known_in_any_case(gpu_type: str) -> None:
    assert admit(replace(GOOD, gpu_type=gpu_type), PROBLEMS, GPU_TYPES).gpu_type == gpu_type.strip().upper()


def test_foreign_gpu_type_is_refused_with_the_legal_ones_and_the_nearest() -> None:
    said = refusal(replace(GOOD, gpu_type="H100"))["spec.gpu_type"]
    for name in GPU_TYPES:
        assert name in said
    assert "the nearest is MI300X" in said
    assert "nearest is MI250X" in refusal(replace(GOOD, gpu_type="MI250"))["spec.gpu_type"]


def test_fallbacks_are_admitted_in_their_order_and_in_any_case() -> None:
    spec = admit(replace(GOOD, fallback_gpu_types=("mi210 ", "Mi300a")), PROBLEMS, GPU_TYPES)
    assert spec.gpu_types == ("MI300X", "MI210", "MI300A")


@pytest.mark.parametrize(
    ("wanted", "fallbacks", "said"),
    [
        ("", ("MI21",), "'MI21' is none of MI300X, MI300A, MI250X, MI210; the nearest is MI210"),
        ("", ("",), "'' is none of"),
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
    wrong = refusal(replace(GOOD, gpu_type=wanted, fallback_gpu_types=fallbacks))
    assert list(wrong) == ["spec.fallback_gpu_types"]
    assert said in wrong["spec.fallback_gpu_types"]


@pytest.mark.parametrize("language", ["", "hip", "HIP", "hip-cpp", " Hip "])
def test_what_front_ends_call_hip_is_hip(language: str) -> None:
    assert admit(replace(GOOD, language=language), PROBLEMS, GPU_TYPES).language == "hip"


@pytest.mark.parametrize(
    ("language", "fix"),
    [("cuda", "hipify"), ("python", "HIP C++"), ("triton", "HIP C++"), ("Mojo", "HIP C++"), ("cobol", "HIP C++")],
)
def test_other_languages_are_refused_with_the_fix(language: str, fix: str) -> None:
    assert fix in refusal(replace(GOOD, language=language))["spec.language"]


@pytest.mark.parametrize(("dtype", "meant"), [("float32", "float32"), ("FP16", "float16"), ("half", "float16")])
def test_dtypes_are_known_by_their_short_names(dtype: str, meant: str) -> None:
    assert admit(replace(GOOD, dtype=dtype), PROBLEMS, GPU_TYPES).dtype == meant


def test_dtype_that_the_problem_lacks_is_refused_with_those_that_it_has() -> None:
    assert "float32, float16" in refusal(replace(GOOD, dtype="int8"))["spec.dtype"]


def test_source_of_one_mebibyte_passes_and_one_more_byte_does_not() -> None:
    admit(replace(GOOD, texts=Texts("x" * MAX_SOURCE_BYTES)), PROBLEMS, GPU_TYPES)
    assert "1,048,577 bytes" in refusal(replace(GOOD, texts=Texts("x" * (MAX_SOURCE_BYTES + 1))))["spec.source"]
    # Two bytes each in UTF-8.
    assert "spec.source" in refusal(replace(GOOD, texts=Texts("é" * (MAX_SOURCE_BYTES // 2 + 1))))


@pytest.mark.parametrize("source", ["", " \n\t", "nul \0 inside"])
def test_source_without_a_program_is_refused(source: str) -> None:
    assert "spec.source" in refusal(replace(GOOD, texts=Texts(source)))


def test_everything_that_is_wrong_is_named_at_once() -> None:
    wrong = replace(
        GOOD, texts=Texts(""), gpu_type="H100", language="cuda", priority=101, mode=None, idempotency_key=""
    )
    assert set(refusal(wrong)) == {
        "spec.source",
        "spec.gpu_type",
        "spec.language",
        "spec.priority",
        "spec.mode",
        "idempotency_key",
    }


def test_unknown_problem_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(UnknownProblemError, match="leaky-relu"):
        admit(replace(GOOD, problem="leaky-rulu"), PROBLEMS, GPU_TYPES)


def test_alias_becomes_the_slug_and_an_authors_own_name_stays() -> None:
    assert admit(replace(GOOD, problem=" Matrix_Vector "), PROBLEMS, GPU_TYPES).problem == "matrix-vector"
    assert admit(replace(GOOD, problem="gemv"), PROBLEMS, GPU_TYPES).problem == "matrix-vector"
    with pytest.raises(UnknownProblemError):
        admit(replace(GOOD, problem="matmul"), PROBLEMS, GPU_TYPES)
    own = replace(GOOD, problem="gemv", texts=Texts("x", problem_def="class gemv(Problem): ..."))
    assert admit(own, PROBLEMS, GPU_TYPES).problem == "gemv"


def test_problem_may_be_left_out_for_the_sandbox_only() -> None:
    assert admit(replace(GOOD, problem="", mode=Mode.SANDBOX), PROBLEMS, GPU_TYPES).problem == ""
    assert admit(replace(GOOD, problem="no-such", mode=Mode.SANDBOX), PROBLEMS, GPU_TYPES).problem == ""
    assert "SANDBOX" in refusal(replace(GOOD, problem=""))["spec.problem"]


def test_fingerprint_tells_sources_and_specs_apart() -> None:
    spec = admit(GOOD, PROBLEMS, GPU_TYPES)
    assert fingerprint(spec, Texts("a")) == fingerprint(
        admit(replace(GOOD, gpu_type="mi300x"), PROBLEMS, GPU_TYPES), Texts("a")
    )
    assert fingerprint(spec, Texts("a")) != fingerprint(spec, Texts("b"))
    assert fingerprint(spec, Texts("a")) != fingerprint(replace(spec, priority=1), Texts("a"))


def test_other_launch_plans_and_definitions_have_other_fingerprints() -> None:
    spec = admit(GOOD, PROBLEMS, GPU_TYPES)
    texts = [Texts("a"), Texts("a", launch_plan="b"), Texts("a", problem_def="b"), Texts("ab")]
    assert len({fingerprint(spec, text) for text in texts}) == len(texts)


def test_each_timing_mode_has_a_fingerprint_of_its_own() -> None:
    spec = admit(GOOD, PROBLEMS, GPU_TYPES)
    timed = [spec, *(replace(spec, timing_mode=mode) for mode in TimingMode)]
    assert len({fingerprint(one, Texts("a")) for one in timed}) == 4


def test_each_order_of_fallbacks_has_a_fingerprint_of_its_own() -> None:
    spec = admit(GOOD, PROBLEMS, GPU_TYPES)
    choices = [(), ("MI210",), ("MI250X",), ("MI210", "MI250X"), ("MI250X", "MI210")]
    assert len({fingerprint(replace(spec, fallback_gpu_types=one), Texts("a")) for one in choices}) == len(choices)


def test_keys_from_before_there_were_timing_modes_and_fallbacks_are_still_known() -> None:
    spec = admit(GOOD, PROBLEMS, GPU_TYPES)
    before = {name: value for name, value in asdict(spec).items() if name not in {"timing_mode", "fallback_gpu_types"}}
    content = json.dumps([before, asdict(Texts("a"))], sort_keys=True).encode()
    assert fingerprint(spec, Texts("a")) == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("mode", [Mode.BENCHMARK, Mode.FULL])
def test_what_is_measured_may_be_timed_in_a_way_of_its_own(mode: Mode) -> None:
    assert admit(replace(GOOD, mode=mode), PROBLEMS, GPU_TYPES).timing_mode is None
    for timing_mode in TimingMode:
        assert admit(replace(GOOD, mode=mode, timing_mode=timing_mode), PROBLEMS, GPU_TYPES).timing_mode is timing_mode


@pytest.mark.parametrize("mode", [Mode.CHECK, Mode.SAMPLE, Mode.SANDBOX])
def test_what_is_not_measured_takes_no_timing_mode(mode: Mode) -> None:
    said = refusal(replace(GOOD, mode=mode, timing_mode="hot"))["spec.timing_mode"]
    assert "only `benchmark` and `full` do" in said


def test_a_timing_mode_that_is_none_is_refused_with_those_that_are() -> None:
    assert "'9' is none of cold, hot, first-call" in refusal(replace(GOOD, timing_mode="9"))["spec.timing_mode"]


def test_a_launch_plan_that_fits_its_problem_is_admitted() -> None:
    admit(replace(GOOD, texts=Texts("kernels", launch_plan=PLAN)), PROBLEMS, GPU_TYPES)


@pytest.mark.parametrize(
    ("plan", "field", "said"),
    [
        ("[", "spec.launch_plan", "not JSON"),
        (PLAN.replace("ceil_div(n, 256)", "ceil_div(m, 256)"), "spec.launch_plan.launches[0].grid[0]", "`m`"),
        (PLAN.replace('"output"', '"result"'), "spec.launch_plan.launches[0].args[1]", "`result`"),
        (PLAN.replace("[256]", "[]"), "spec.launch_plan.launches[0].block", "1 to 3"),
    ],
)
def test_a_launch_plan_is_refused_at_the_place_that_is_wrong(plan: str, field: str, said: str) -> None:
    assert said in refusal(replace(GOOD, texts=Texts("kernels", launch_plan=plan)))[field]


def test_a_definition_stands_in_for_the_catalogue() -> None:
    texts = Texts("code", PLAN, "class Mine: pass")
    assert (
        admit(replace(GOOD, problem="of-my-own", dtype="int8", texts=texts), PROBLEMS, GPU_TYPES).problem == "of-my-own"
    )
    assert admit(replace(GOOD, problem="", texts=texts), PROBLEMS, GPU_TYPES).problem == ""


@pytest.mark.parametrize("definition", ["x" * (MAX_DEFINITION_BYTES + 1), " \n", "nul \0"])
def test_a_definition_that_is_none_is_refused(definition: str) -> None:
    assert "spec.problem_def" in refusal(replace(GOOD, texts=Texts("code", problem_def=definition)))


def test_whole_programs_have_neither_plan_nor_definition() -> None:
    wrong = refusal(replace(GOOD, mode=Mode.SANDBOX, texts=Texts("code", PLAN, "class Mine: pass")))
    assert set(wrong) == {"spec.launch_plan", "spec.problem_def"}


@given(
    st.builds(
        Submission,
        account_id=st.text(max_size=5),
        idempotency_key=st.text(max_size=5),
        problem=st.text(max_size=20) | st.sampled_from(sorted(PROBLEMS)),
        texts=st.builds(
            Texts, st.text(max_size=50), st.just("") | st.text(max_size=50), st.just("") | st.text(max_size=50)
        ),
        mode=st.none() | st.sampled_from(Mode),
        gpu_type=st.text(max_size=10) | st.sampled_from(GPU_TYPES),
        dtype=st.text(max_size=10),
        language=st.text(max_size=10) | st.just("hip"),
        priority=st.integers(-200, 200),
        timing_mode=st.text(max_size=5) | st.sampled_from(["", *TimingMode]),
        fallback_gpu_types=st.lists(st.text(max_size=5) | st.sampled_from(GPU_TYPES), max_size=5).map(tuple),
    )
)
def test_any_submission_is_either_admitted_in_canonical_words_or_refused_by_name(submission: Submission) -> None:
    try:
        spec = admit(submission, PROBLEMS, GPU_TYPES)
    except (InvalidSubmissionError, UnknownProblemError) as error:
        refused: Exception = error
    else:
        assert spec.gpu_type in GPU_TYPES
        assert len(set(spec.gpu_types) & set(GPU_TYPES)) == len(spec.gpu_types)
        assert spec.language == "hip"
        assert spec.timing_mode is None or spec.mode in TIMED_MODES
        assert spec.mode is Mode.SANDBOX or submission.texts.problem_def or spec.dtype in PROBLEMS[spec.problem].dtypes
        return
    if isinstance(refused, InvalidSubmissionError):
        assert all(field and description for field, description in refused.violations)
    else:
        assert "There is no problem" in str(refused)
