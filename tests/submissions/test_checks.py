from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wavepool.submission.v1.submission_pb2 import RunMode, Submission

from problems.kit.definition import Problem
from problems.kit.signature import Initial, parse_signature
from submissions.checks import InvalidSubmissionError, SubmissionError, UnknownProblemError, checked
from submissions.modes import MODES, PROFILED_MODES, TIMED_MODES, TIMING_MODES, Mode, TimingMode
from vocabulary.limits import MAX_DEFINITION_BYTES, MAX_PLAN_BYTES, MAX_SOURCE_BYTES

PARAMETERS = parse_signature("const float* input, float* output, size_t n", {"output": Initial.POISON}, frozenset())
PROBLEMS: dict[str, Problem] = {
    slug: cast("Any", SimpleNamespace(slug=slug, dtypes=dtypes, parameters=parameters))
    for slug, dtypes, parameters in (
        ("leaky-relu", ("float32", "float16"), PARAMETERS),
        ("matrix-vector", ("float32",), ()),
    )
}
PLAN = '{"launches": [{"kernel": "k", "grid": ["ceil_div(n, 256)"], "block": [256], "args": ["input", "output", "n"]}]}'
DEFINITION = "class Mine: pass"


def sent(**changes: Any) -> Submission:
    sound: dict[str, Any] = {
        "problem": "leaky-relu",
        "source": 'extern "C" void solution() {}',
        "mode": Mode.FULL.number,
    }
    return Submission(**sound | changes)


def admitted(**changes: Any) -> Submission:
    return checked(sent(**changes), PROBLEMS)


def refusal(**changes: Any) -> dict[str, str]:
    with pytest.raises(InvalidSubmissionError) as caught:
        admitted(**changes)
    return dict(caught.value.violations)


def test_what_is_left_out_is_filled_in_and_what_was_sent_stays_as_it_is() -> None:
    before = sent()
    spelt = checked(before, PROBLEMS)
    assert (spelt.dtype, spelt.language) == ("float32", "hip")
    assert before == sent()


@pytest.mark.parametrize("language", ["", "hip", "HIP", "hip-cpp", " Hip "])
def test_what_front_ends_call_hip_is_hip(language: str) -> None:
    assert admitted(language=language).language == "hip"


@pytest.mark.parametrize("language", ["cuda", "CUDA", "cuda-cpp", " nvcc "])
def test_cuda_is_taken_and_stays_known_as_cuda(language: str) -> None:
    assert admitted(language=language).language == "cuda"


@pytest.mark.parametrize(
    ("language", "fix"),
    [("python", "HIP C++"), ("triton", "HIP C++"), ("Mojo", "HIP C++"), ("cobol", "HIP C++")],
)
def test_other_languages_are_refused_with_the_fix(language: str, fix: str) -> None:
    assert fix in refusal(language=language)["language"]


@pytest.mark.parametrize(("dtype", "meant"), [("float32", "float32"), ("FP16", "float16"), ("half", "float16")])
def test_dtypes_are_known_by_their_short_names(dtype: str, meant: str) -> None:
    assert admitted(dtype=dtype).dtype == meant


def test_dtype_that_the_problem_lacks_is_refused_with_those_that_it_has() -> None:
    assert "`leaky-relu` has no 'int8'; it has float32, float16" in refusal(dtype="int8")["dtype"]


def test_source_of_one_mebibyte_passes_and_one_more_byte_does_not() -> None:
    admitted(source="x" * MAX_SOURCE_BYTES)
    assert "1,048,577 bytes" in refusal(source="x" * (MAX_SOURCE_BYTES + 1))["source"]
    # Two bytes each in UTF-8.
    assert "source" in refusal(source="é" * (MAX_SOURCE_BYTES // 2 + 1))


@pytest.mark.parametrize("source", ["", " \n\t", "nul \0 inside"])
def test_source_without_a_program_is_refused(source: str) -> None:
    assert "source" in refusal(source=source)


def test_everything_that_is_wrong_is_named_at_once_and_each_field_once() -> None:
    wrong = refusal(source="", language="mojo", mode=0, launch_plan=" " * (MAX_PLAN_BYTES + 1), timing_mode=9)
    assert set(wrong) == {"source", "language", "mode", "launch_plan", "timing_mode"}
    assert "65,537 bytes" in wrong["launch_plan"]


def test_unknown_problem_is_refused_with_the_nearest_names() -> None:
    with pytest.raises(UnknownProblemError, match="leaky-relu"):
        admitted(problem="leaky-rulu")


def test_alias_becomes_the_slug_and_an_authors_own_name_stays() -> None:
    assert admitted(problem=" Matrix_Vector ").problem == "matrix-vector"
    assert admitted(problem="gemv").problem == "matrix-vector"
    with pytest.raises(UnknownProblemError):
        admitted(problem="matmul")
    assert admitted(problem="gemv", problem_definition="class gemv(Problem): ...").problem == "gemv"


def test_problem_may_be_left_out_for_the_sandbox_only() -> None:
    for problem in ("", "no-such"):
        assert admitted(problem=problem, mode=Mode.SANDBOX.number).problem == ""
    assert "SANDBOX" in refusal(problem="")["problem"]


@pytest.mark.parametrize("mode", TIMED_MODES)
def test_what_is_measured_may_be_timed_in_a_way_of_its_own(mode: Mode) -> None:
    for number in TIMING_MODES:
        assert admitted(mode=mode.number, timing_mode=number).timing_mode == number


@pytest.mark.parametrize("mode", [Mode.CHECK, Mode.SAMPLE, Mode.SANDBOX])
def test_what_is_not_measured_takes_no_timing_mode(mode: Mode) -> None:
    said = refusal(mode=mode.number, timing_mode=TimingMode.HOT.number)["timing_mode"]
    assert "only `benchmark` and `full` do" in said


def test_a_timing_mode_that_is_none_is_refused_with_those_that_are() -> None:
    assert "'9' is not valid; choose cold, hot, first-call" in refusal(timing_mode=9)["timing_mode"]


@pytest.mark.parametrize("mode", PROFILED_MODES)
def test_what_is_checked_may_be_profiled(mode: Mode) -> None:
    assert admitted(mode=mode.number, profile=True).profile
    assert not admitted(mode=mode.number).profile


@pytest.mark.parametrize("mode", [Mode.SAMPLE, Mode.SANDBOX])
def test_a_sample_and_a_whole_program_have_no_profile(mode: Mode) -> None:
    said = refusal(mode=mode.number, profile=True)["profile"]
    assert "for `check`, `benchmark`, `full` only" in said


def test_a_launch_plan_that_fits_its_problem_is_admitted() -> None:
    assert admitted(launch_plan=PLAN).launch_plan == PLAN


@pytest.mark.parametrize(
    ("plan", "field", "said"),
    [
        ("[", "launch_plan", "not JSON"),
        (PLAN.replace("ceil_div(n, 256)", "ceil_div(m, 256)"), "launch_plan.launches[0].grid[0]", "`m`"),
        (PLAN.replace('"output"', '"result"'), "launch_plan.launches[0].args[1]", "`result`"),
        (PLAN.replace("[256]", "[]"), "launch_plan.launches[0].block", "1 to 3"),
    ],
)
def test_a_launch_plan_is_refused_at_the_place_that_is_wrong(plan: str, field: str, said: str) -> None:
    assert said in refusal(launch_plan=plan)[field]


def test_a_definition_stands_in_for_the_catalogue() -> None:
    own = {"launch_plan": PLAN, "problem_definition": DEFINITION}
    assert admitted(problem="of-my-own", dtype="int8", **own).problem == "of-my-own"
    assert admitted(problem="", **own).problem == ""


@pytest.mark.parametrize("definition", ["x" * (MAX_DEFINITION_BYTES + 1), " \n", "nul \0"])
def test_a_definition_that_is_none_is_refused(definition: str) -> None:
    assert "problem_definition" in refusal(problem_definition=definition)


@pytest.mark.parametrize("name", ["x" * 101, "nul \0"])
def test_an_authors_name_that_cannot_be_kept_is_refused(name: str) -> None:
    assert "at most 100 characters" in refusal(problem=name, problem_definition=DEFINITION)["problem"]


def test_whole_programs_have_neither_plan_nor_definition() -> None:
    wrong = refusal(mode=Mode.SANDBOX.number, launch_plan=PLAN, problem_definition=DEFINITION)
    assert set(wrong) == {"launch_plan", "problem_definition"}


@given(
    st.builds(
        Submission,
        problem=st.text(max_size=20) | st.sampled_from(sorted(PROBLEMS)),
        source=st.text(max_size=50),
        launch_plan=st.just("") | st.text(max_size=50),
        problem_definition=st.just("") | st.text(max_size=50),
        mode=st.sampled_from(RunMode.values()) | st.just(77),
        dtype=st.text(max_size=10),
        language=st.text(max_size=10) | st.just("hip"),
        timing_mode=st.integers(0, 9),
        profile=st.booleans(),
    )
)
def test_any_submission_is_either_admitted_in_canonical_words_or_refused_by_name(submission: Submission) -> None:
    try:
        spelt = checked(submission, PROBLEMS)
    except SubmissionError as error:
        refused = error
    else:
        mode = MODES[spelt.mode]
        assert spelt.language == "hip"
        assert TIMING_MODES[spelt.timing_mode] is None or mode in TIMED_MODES
        assert not spelt.profile or mode in PROFILED_MODES
        assert mode is Mode.SANDBOX or spelt.problem_definition or spelt.dtype in PROBLEMS[spelt.problem].dtypes
        assert checked(spelt, PROBLEMS) == spelt
        return
    if isinstance(refused, InvalidSubmissionError):
        fields = [field for field, _ in refused.violations]
        assert len(set(fields)) == len(fields)
        assert {field.split(".")[0] for field in fields} <= set(Submission.DESCRIPTOR.fields_by_name)
        assert all(description for _, description in refused.violations)
    else:
        assert "There is no problem" in str(refused)
