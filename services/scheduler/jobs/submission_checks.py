"""Whether a submission may become a job: a pure check of its fields, with the fix in every refusal."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from problems.kit.launch_plan import LaunchPlanError, parse_plan
from problems.library.aliases import nearest_slugs, resolved_slug
from services.scheduler.jobs.errors import InvalidSubmissionError, UnknownProblemError
from services.scheduler.jobs.gpu_choice import wanted_gpu_type, wrong_gpu_types
from services.scheduler.jobs.spec import JobSpec, Mode, TimingMode
from vocabulary.limits import DEFAULT_DTYPE, MAX_DEFINITION_BYTES, MAX_SOURCE_BYTES
from vocabulary.names import known_name

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from problems.kit.signature import Parameter
    from services.scheduler.jobs.spec import Texts

MAX_NAME_CHARACTERS = 100
MAX_KEY_CHARACTERS = 128
MIN_PRIORITY, MAX_PRIORITY = -100, 100
MAX_PRIORITY_FOR_EVERYBODY = 0
"""Above it, an account needs the right to go before others."""
LANGUAGE = "hip"
TIMED_MODES = (Mode.BENCHMARK, Mode.FULL)
# What front ends send for HIP; Tensara's calls a HIP kernel's language by its C++ dialect.
LANGUAGE_ALIASES = frozenset({"", "hip", "hipcc", "hip-cpp", "hip_cpp", "hipc++", "hip-c++", "rocm", "rocm-hip"})
LANGUAGE_FIXES = {
    "cuda": "Translate the source with hipify-perl and send it as language 'hip'",
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


@dataclass(frozen=True)
class CatalogueProblem:
    """The facts of a catalogue problem that `admit` needs."""

    dtypes: Sequence[str]
    parameters: Sequence[Parameter] = ()


@dataclass(frozen=True)
class Submission:
    """What somebody sent; `mode` is None where it was not given or is not known, and `timing_mode` may be empty."""

    account_id: str
    idempotency_key: str
    problem: str
    texts: Texts
    mode: Mode | None
    gpu_type: str
    dtype: str
    language: str
    priority: int
    timing_mode: str = ""
    fallback_gpu_types: tuple[str, ...] = ()


def admit(submission: Submission, problems: Mapping[str, CatalogueProblem], gpu_types: Sequence[str]) -> JobSpec:
    """The spec of the job that the submission becomes.

    `problems` has the catalogue's, by slug; `gpu_types` are those that may be asked for, the default one first.

    Raises UnknownProblemError, or InvalidSubmissionError with everything else that is wrong at once.
    """
    problem = _problem(submission, problems)
    wrong: list[tuple[str, str]] = []
    wrong += _wrong_caller(submission)
    wrong += _wrong_source(submission.texts.source)
    wrong += _wrong_definition(submission)
    wrong += _wrong_launch_plan(submission, problems.get(problem))
    wrong += _wrong_language(submission.language)
    wrong += wrong_gpu_types(submission.gpu_type, submission.fallback_gpu_types, gpu_types)
    wrong += _wrong_priority(submission.priority)
    wrong += _wrong_timing_mode(submission)
    if submission.mode is None:
        wrong.append(("spec.mode", "give one of CHECK, BENCHMARK, FULL, SAMPLE, SANDBOX"))
    elif submission.mode is not Mode.SANDBOX and not submission.texts.problem_def:
        wrong += _wrong_problem_or_dtype(submission, problem, problems)
    if wrong or submission.mode is None:
        raise InvalidSubmissionError(wrong)
    return JobSpec(
        problem=problem,
        mode=submission.mode,
        gpu_type=wanted_gpu_type(submission.gpu_type, gpu_types),
        dtype=_dtype(submission.dtype),
        language=LANGUAGE,
        priority=submission.priority,
        timing_mode=TimingMode(submission.timing_mode) if submission.timing_mode else None,
        fallback_gpu_types=tuple(known_name(asked, gpu_types) for asked in submission.fallback_gpu_types),
    )


def fingerprint(spec: JobSpec, texts: Texts) -> str:
    """What tells two submissions under one idempotency key apart.

    What is left out has no part in it, so that a key is still known after an update that brought something new to ask.
    """
    asked = {name: value for name, value in asdict(spec).items() if value not in (None, ())}
    content = json.dumps([asked, asdict(texts)], sort_keys=True).encode()
    return hashlib.sha256(content).hexdigest()


def _problem(submission: Submission, problems: Mapping[str, CatalogueProblem]) -> str:
    """The slug in the catalogue, or the author's own name for the definition that came along."""
    name = submission.problem.strip()
    if submission.mode is Mode.SANDBOX:
        return ""
    if not name or submission.texts.problem_def:
        return name
    slug = resolved_slug(name, problems)
    if slug is None:
        raise UnknownProblemError(name, nearest_slugs(name, problems))
    return slug


def _wrong_caller(submission: Submission) -> list[tuple[str, str]]:
    wrong: list[tuple[str, str]] = []
    if not submission.account_id:
        wrong.append(("account_id", "is empty; give the account that pays"))
    if not 0 < len(submission.idempotency_key) <= MAX_KEY_CHARACTERS:
        wrong.append(("idempotency_key", f"give 1 to {MAX_KEY_CHARACTERS} characters, unique for each submission"))
    return wrong


def _wrong_source(source: str) -> list[tuple[str, str]]:
    if not source.strip():
        return [("spec.source", "is empty; send HIP source that defines `solution`")]
    size_bytes = len(source.encode(errors="surrogatepass"))
    if size_bytes > MAX_SOURCE_BYTES:
        return [("spec.source", f"has {size_bytes:,} bytes; send at most {MAX_SOURCE_BYTES:,}")]
    if "\0" in source:
        return [("spec.source", "has a NUL character; send plain text")]
    return []


def _wrong_definition(submission: Submission) -> list[tuple[str, str]]:
    """The class itself is for the executor's box to look at."""
    definition = submission.texts.problem_def
    if not definition:
        return []
    if submission.mode is Mode.SANDBOX:
        return [("spec.problem_def", "must be empty for mode SANDBOX, whose program has its own main")]
    size_bytes = len(definition.encode(errors="surrogatepass"))
    if size_bytes > MAX_DEFINITION_BYTES:
        return [("spec.problem_def", f"has {size_bytes:,} bytes; send at most {MAX_DEFINITION_BYTES:,}")]
    if "\0" in definition or not definition.strip():
        return [("spec.problem_def", "must be Python source of a problem class, as plain text")]
    if len(submission.problem) > MAX_NAME_CHARACTERS or "\0" in submission.problem:
        return [("spec.problem", f"give a name of at most {MAX_NAME_CHARACTERS} characters")]
    return []


def _wrong_launch_plan(submission: Submission, problem: CatalogueProblem | None) -> list[tuple[str, str]]:
    plan = submission.texts.launch_plan
    if not plan:
        return []
    if submission.mode is Mode.SANDBOX:
        return [("spec.launch_plan", "must be empty for mode SANDBOX, whose program launches its own kernels")]
    known = None if submission.texts.problem_def else problem
    try:
        parse_plan(plan, known.parameters if known else None)
    except LaunchPlanError as error:
        return [(f"spec.{error.field}", error.message)]
    return []


def _wrong_language(language: str) -> list[tuple[str, str]]:
    name = language.strip().lower()
    if name in LANGUAGE_ALIASES:
        return []
    fix = LANGUAGE_FIXES.get(name, "Send HIP C++ as language 'hip'")
    return [("spec.language", f"{language[:40]!r} does not run here: only 'hip' does. {fix}")]


def _wrong_priority(priority: int) -> list[tuple[str, str]]:
    if MIN_PRIORITY <= priority <= MAX_PRIORITY:
        return []
    return [("spec.priority", f"is {priority}; give {MIN_PRIORITY} to {MAX_PRIORITY}")]


def _wrong_timing_mode(submission: Submission) -> list[tuple[str, str]]:
    asked = submission.timing_mode
    if not asked:
        return []
    if asked not in set(TimingMode):
        return [("spec.timing_mode", f"{asked[:40]!r} is none of {', '.join(TimingMode)}")]
    if submission.mode not in {None, *TIMED_MODES}:
        timed = " and ".join(f"`{mode.name.lower()}`" for mode in TIMED_MODES)
        return [("spec.timing_mode", f"must be left out for a mode that times nothing; only {timed} do")]
    return []


def _wrong_problem_or_dtype(
    submission: Submission, slug: str, problems: Mapping[str, CatalogueProblem]
) -> list[tuple[str, str]]:
    if not slug:
        return [("spec.problem", "is empty; give a problem's slug, or mode SANDBOX")]
    dtypes = problems[slug].dtypes
    if _dtype(submission.dtype) not in dtypes:
        return [("spec.dtype", f"{submission.dtype[:40]!r} is none of {slug}'s: {', '.join(dtypes)}")]
    return []


def _dtype(dtype: str) -> str:
    name = dtype.strip().lower()
    return DTYPE_ALIASES.get(name, name) or DEFAULT_DTYPE
