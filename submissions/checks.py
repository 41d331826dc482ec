"""The one check of a submission's fields: pure, with the fix in every refusal.

SubmissionError
├── InvalidSubmissionError
└── UnknownProblemError
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from wavepool.submission.v1.submission_pb2 import Submission

from problems.kit.definition import Problem
from problems.kit.launch_plan import LaunchPlanError, parse_plan
from problems.library.aliases import nearest_slugs, resolved_slug
from problems.library.variants import UnknownElementTypeError, check_element_type
from submissions.modes import MODES, PROFILED_MODES, TIMED_MODES, TIMING_MODES, Mode, TimingMode
from vocabulary.limits import CUDA, DEFAULT_DTYPE, MAX_DEFINITION_BYTES, MAX_PLAN_BYTES, MAX_SOURCE_BYTES

MAX_NAME_CHARACTERS = 100
LANGUAGE = "hip"
# Front ends send these for HIP; Tensara's uses the C++ dialect of a HIP kernel.
LANGUAGE_ALIASES = frozenset({"", "hip", "hipcc", "hip-cpp", "hip_cpp", "hipc++", "hip-c++", "rocm", "rocm-hip"})
CUDA_ALIASES = frozenset({CUDA, "cuda-cpp", "cuda_cpp", "cuda-c++", "cu", "nvcc"})
"""Front ends send these for kernels that HIP takes as they are."""
LANGUAGE_FIXES = {
    "python": "Write the kernel in HIP C++ and send it as language 'hip'",
    "triton": "Write the kernel in HIP C++ and send it as language 'hip'",
    "mojo": "Write the kernel in HIP C++ and send it as language 'hip'",
}
DTYPE_ALIASES = {
    "fp64": "float64",
    "double": "float64",
    "fp32": "float32",
    "f32": "float32",
    "float": "float32",
    "fp16": "float16",
    "half": "float16",
    "bf16": "bfloat16",
}
MOST_BYTES: dict[Literal["source", "launch_plan", "problem_definition"], int] = {
    "source": MAX_SOURCE_BYTES,
    "launch_plan": MAX_PLAN_BYTES,
    "problem_definition": MAX_DEFINITION_BYTES,
}
"""The large texts of a submission, each with its limit in bytes of UTF-8."""

Violations = list[tuple[str, str]]
"""Pairs of a field's name and a text with its fault and the fix."""


class SubmissionError(ValueError):
    """A submission cannot be run; the message is meant for its author."""


class InvalidSubmissionError(SubmissionError):
    """Fields of a submission are wrong; `violations` has all of them by name, each with its first fault."""

    def __init__(self, violations: Violations) -> None:
        first = dict(reversed(violations))
        self.violations = tuple((field, first[field]) for field in dict(violations))
        super().__init__("; ".join(f"{field}: {description}" for field, description in self.violations))


class UnknownProblemError(SubmissionError):
    """There is no such problem."""

    def __init__(self, slug: str, nearest: Sequence[str]) -> None:
        hint = f" Did you mean {', '.join(nearest)}?" if nearest else " `wavepool problems` lists them all."
        super().__init__(f"There is no problem {slug[:80]!r}.{hint}")


def checked(submission: Submission, problems: Mapping[str, Problem]) -> Submission:
    """Gives the submission with every name in its one spelling; `problems` maps slugs to the catalogue's problems.

    Raises UnknownProblemError, or InvalidSubmissionError with all other faults at once.
    """
    mode = MODES.get(submission.mode)
    slug = _slug(submission, problems)
    wrong = [*unreadable(submission), *_wrong_source(submission.source)]
    wrong += _wrong_in_program(submission) if mode is Mode.SANDBOX else _wrong_in_solution(submission, slug, problems)
    wrong += _wrong_language(submission.language)
    wrong += [*_wrong_timing_mode(submission), *_wrong_profile(submission)]
    if mode not in {None, Mode.SANDBOX} and not submission.problem_definition:
        wrong += _wrong_problem_or_dtype(submission, slug, problems)
    if wrong:
        raise InvalidSubmissionError(wrong)
    spelt = Submission()
    spelt.CopyFrom(submission)
    spelt.problem, spelt.dtype, spelt.language = slug, element_type_name(submission.dtype), _language(submission)
    return spelt


def unreadable(submission: Submission) -> Violations:
    """Texts that are too large, and enum numbers that this program does not know; the executor checks only these."""
    wrong = _too_large(submission)
    if submission.mode not in MODES:
        wrong.append(("mode", f"'{submission.mode}' is not valid; choose {', '.join(mode.name for mode in Mode)}"))
    if submission.timing_mode not in TIMING_MODES:
        wrong.append(("timing_mode", f"'{submission.timing_mode}' is not valid; choose {', '.join(TimingMode)}"))
    return wrong


def _too_large(submission: Submission) -> Violations:
    """Faults of the texts that have too many bytes."""
    wrong: Violations = []
    for field, most in MOST_BYTES.items():
        text: str = getattr(submission, field)
        if (size_bytes := len(text.encode())) > most:
            wrong.append((field, f"has {size_bytes:,} bytes; send at most {most:,}"))
    return wrong


def _slug(submission: Submission, problems: Mapping[str, Problem]) -> str:
    """Slug of the problem in the catalogue, or the author's own name for a problem definition."""
    name = submission.problem.strip()
    if submission.mode == Mode.SANDBOX.number:
        return ""
    if not name or submission.problem_definition:
        return name
    slug = resolved_slug(name, problems)
    if slug is None:
        raise UnknownProblemError(name, nearest_slugs(name, problems))
    return slug


def _wrong_source(source: str) -> Violations:
    if not source.strip():
        return [("source", "is empty; send HIP source that defines `solution`")]
    return [("source", "has a NUL character; send plain text")] if "\0" in source else []


def _wrong_in_program(submission: Submission) -> Violations:
    wrong: Violations = []
    if submission.launch_plan:
        wrong.append(("launch_plan", "must be empty for mode SANDBOX, whose program launches its own kernels"))
    if submission.problem_definition:
        wrong.append(("problem_definition", "must be empty for mode SANDBOX, whose program has its own main"))
    return wrong


def _wrong_in_solution(submission: Submission, slug: str, problems: Mapping[str, Problem]) -> Violations:
    """Faults of the definition's text and the launch plan; the executor's sandbox checks the definition's class."""
    wrong: Violations = []
    definition = submission.problem_definition
    if definition and ("\0" in definition or not definition.strip()):
        wrong.append(("problem_definition", "must be Python source of a problem class, as plain text"))
    if definition and (len(submission.problem) > MAX_NAME_CHARACTERS or "\0" in submission.problem):
        wrong.append(("problem", f"give a name of at most {MAX_NAME_CHARACTERS} characters"))
    known = None if definition else problems.get(slug)
    try:
        if submission.launch_plan:
            parse_plan(submission.launch_plan, known.parameters if known else None)
    except LaunchPlanError as error:
        wrong.append((error.field, error.message))
    return wrong


def _language(submission: Submission) -> str:
    return CUDA if submission.language.strip().lower() in CUDA_ALIASES else LANGUAGE


def _wrong_language(language: str) -> Violations:
    name = language.strip().lower()
    if name in LANGUAGE_ALIASES | CUDA_ALIASES:
        return []
    fix = LANGUAGE_FIXES.get(name, "Send HIP C++ as language 'hip'")
    return [("language", f"{language[:40]!r} does not run here: 'hip' does, and 'cuda' as far as it is HIP. {fix}")]


def _wrong_timing_mode(submission: Submission) -> Violations:
    if submission.timing_mode and MODES.get(submission.mode) not in {None, *TIMED_MODES}:
        timed = " and ".join(f"`{mode}`" for mode in TIMED_MODES)
        return [("timing_mode", f"must be left out for a mode that times nothing; only {timed} do")]
    return []


def _wrong_profile(submission: Submission) -> Violations:
    if submission.profile and MODES.get(submission.mode) not in {None, *PROFILED_MODES}:
        profiled = ", ".join(f"`{mode}`" for mode in PROFILED_MODES)
        return [("profile", f"must be left out for this mode; a profile is made for {profiled} only")]
    return []


def _wrong_problem_or_dtype(submission: Submission, slug: str, problems: Mapping[str, Problem]) -> Violations:
    if not slug:
        return [("problem", "is empty; give a problem's slug, or mode SANDBOX")]
    try:
        check_element_type(problems[slug], element_type_name(submission.dtype))
    except UnknownElementTypeError as error:
        return [("dtype", str(error))]
    return []


def element_type_name(dtype: str) -> str:
    """An element type in its one spelling: `fp16` is `float16`, and an empty one the default; unknown ones stay."""
    name = dtype.strip().lower()
    return DTYPE_ALIASES.get(name, name) or DEFAULT_DTYPE
