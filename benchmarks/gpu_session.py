"""Computes the host's cost of a submission at GPU sizes, per problem: CPU and wall seconds, bytes copied, memory.

`python benchmarks/gpu_session.py` measures the steps of a call as the judge makes them, at the largest size up to 64
MiB and in CPU seconds of this machine: D draws the inputs and copies them; R makes them again as a device drew them; L
copies memory of their size; C copies a whole output back and compares it with the fp64 reference; T copies an output
alone. These are scaled by bytes to the GPU sizes, and so is G, the digest of an output, measured at 16 MiB. A is the
cost of comparing an answer: C, and also R if the device drew its inputs; or, if the problem has parts
(`problems/kit/parts.py`), the measured cost of a part of the GPU case itself. Inputs that the device draws are not
loaded. For each GPU case, in CPU seconds, one step after the other:

    to record     3 D; none if the sizes are known without the values
    to check      D + C, and T for a second call with the same inputs if the problem is deterministic. All threads
                  share D of inputs of 16 Mi elements that the device could draw too, and C if the problem has parts
                  that make up the whole, or is a product that is checked by its factors
    repeatedly    n (D + L + T + A); n calls fit into a quarter of a second, at least 3 and at most max(9, 40 / number
                  of cases); one call, with 3 D, if each takes over 2 s
    3 sessions    if the device draws the inputs: A and 2 (L + T) for the first call, the latter only for the pages
                  that it is judged by, and P, the measured time to choose an excerpt, for each of 110 calls of a
                  nondeterministic problem. If it cannot: D + L + T + A for each of 10 calls to warm up, or as many as
                  fit into 1 s, and for each of n samples, and D for calls drawn ahead; n is 100, or as many as fit
                  into the profile's `max_wall_seconds`, at least 10
    to replay     if the device draws the inputs: 8 (A + G + 2 T) for each session, or 8 (A + 2 T) + 32 P if the
                  problem is nondeterministic, with T only for the pages that the answer is judged by, and A once more
                  to know which answers may be off
    1 chain       D for it and once for two empty ones, if the device cannot draw the inputs; A + T + G for each of 32
                  links, or of 9 if the arrays of all links take over 256 MiB, or of fewer if so many outputs would
                  take over 16 GiB

Steps of several calls run side by side (`core/check/side_by_side.py`): D and A of calls that the host draws and of
repeated calls, and A and G of replayed calls and of links. If there are fewer calls than threads, the threads share G,
R of whole inputs, and D of inputs as above; all threads share R of a session's first call. On the 8 cores of the aim, k
= min(8, 4 GiB / bytes of the case) calls run at once (3 of the repeated ones, one of cases below 1 MiB), which divides
the wall time of each k by 1 + (k - 1) E. E is measured here: two threads that draw and compare two calls of this
problem are 1 + E times as fast as one thread. It is not known whether eight threads share memory as well as two. The
machine runs nothing else.

    kernel s    = sum over the GPU cases of calls * max(floor, bytes / bandwidth, operations / peak) on an MI300X. The
                  calls are 3 (10 + 100), fewer if a session's take over 1 s (a steady one is then examined every
                  twenty), the links, and the replayed ones (24 of a session, fewer if they take over 2 s). If the
                  problem is deterministic, also written bytes / bandwidth for the digest of each call of a session and
                  each replayed one. The device's time to draw inputs is not counted
    wall s      = the steps, divided so, + kernel s

Run it with OPENBLAS_NUM_THREADS=1: threads that wait for a processor count as work.

The column "all checked" is the cost if every call of the sessions were drawn and compared whole, one after the other.

Scaling by bytes underestimates references whose work grows faster than their data. Products that are checked by their
factors at GPU sizes are measured that way. Memory is the most that numpy held during a whole call, scaled alike, for
each call at once, plus the outputs that are fetched at once. The aims are for the whole submission: 60 CPU s at the
median problem; 30 s of wall time at the median and 90 s at the worst.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import cast

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from collections.abc import Callable

from problems.kit.comparison import compare
from problems.kit.definition import Case, Part, Problem, SizeSet
from problems.kit.distributions import DRAWN_IN_STRETCHES, Unmade
from problems.kit.freivalds import check_product
from problems.kit.parts import Stretch
from problems.kit.work import work_of
from services.executor.core.audit.chain import GPU_CHAINS
from services.executor.core.audit.revealing import REPLAYED_CALLS, calls_to_replay
from services.executor.core.check.case_judge import USUAL_RULE, CaseJudge
from services.executor.core.check.chain_arithmetic import digest_of, remade, remade_at
from services.executor.core.check.chain_rules import redraw_rules
from services.executor.core.check.side_by_side import share_of
from services.executor.core.launching.understanding import RECORDINGS
from services.executor.core.measure.timed_calls import FEWEST_REPEATED, is_enough, most_repeated
from services.executor.core.model.seeds import RunSeed
from services.executor.core.run.installation import catalogue
from services.executor.core.timing.stopping import GPU_PROFILE
from services.executor.sandboxes.kernel_calls import FREED_BYTES_KEPT, keep_freed_memory
from vocabulary.roofline import Roofs, floor_of, peak_of, roofs_of

HOST_CORES = 8
AIM_CPU_SECONDS, AIM_MEDIAN_SECONDS, AIM_WORST_SECONDS = 60.0, 30.0, 90.0
GIB, DIGESTED_BYTES, MEASURED_BYTES = 2**30, 1 << 24, 1 << 26


@dataclass(frozen=True)
class Call:
    """The steps of one call on the host, in CPU seconds, and its memory, for each byte of the problem's data."""

    draw: float
    redraw: float
    load: float
    compare: float
    copy: float
    memory_bytes: float

    def scaled(self, factor: float) -> Call:
        """The steps of a call with this many bytes."""
        return Call(*(getattr(self, one.name) * factor for one in fields(self)))


@dataclass(frozen=True)
class Cost:
    """A whole submission of one problem at GPU sizes; `copied_bytes` and `memory_bytes` are of its largest call."""

    slug: str
    call_cpu_seconds: float
    all_checked_cpu_seconds: float
    spent: Spent
    kernel_seconds: float
    copied_bytes: float
    memory_bytes: float
    gain: float

    @property
    def wall_seconds(self) -> float:
        """Wall time of the host's part and the GPU's, one after the other."""
        return self.spent.wall + self.kernel_seconds


def calls_of(call_seconds: float) -> float:
    """Number of calls in a session if each takes this long."""
    fitting = call_seconds or 1e-9
    warm_up = max(1.0, min(GPU_PROFILE.warm_up_calls, GPU_PROFILE.warm_up_cap_seconds / fitting))
    samples = max(GPU_PROFILE.fewest_samples, min(GPU_PROFILE.min_samples, GPU_PROFILE.max_wall_seconds / fitting))
    return warm_up + samples


def at_once(size_bytes: float) -> int:
    """Number of calls of a case that are drawn and compared side by side."""
    return share_of(int(size_bytes), HOST_CORES, 1) if size_bytes >= USUAL_RULE.side_by_side_bytes else 1


def repeated_calls(problem: Problem, call_seconds: float) -> int:
    """Number of calls of a case before it is timed, if each takes this long."""
    most = most_repeated(len(problem.sizes.gpu))
    return next((calls for calls in range(1, most) if is_enough(calls, calls * call_seconds)), most)


@dataclass(frozen=True)
class Spent:
    """Seconds of processor time, and of wall time if several processors share the work."""

    cpu: float = 0.0
    wall: float = 0.0

    def __add__(self, other: Spent) -> Spent:
        return Spent(self.cpu + other.cpu, self.wall + other.wall)

    def __mul__(self, times: float) -> Spent:
        return Spent(self.cpu * times, self.wall * times)


def alone(seconds: float) -> Spent:
    """Work of one thread."""
    return Spent(seconds, seconds)


def all_checked_seconds(problem: Problem, call: Call) -> float:
    """CPU seconds for a case if every call of the sessions were drawn and compared whole; `call` is of this case."""
    one = call.draw + call.load + call.copy + call.compare
    again = 0.0 if problem.nondeterministic else call.copy
    untimed = call.draw + call.compare + again + repeated_calls(problem, one) * one
    session = GPU_PROFILE.sessions.sessions * calls_of(one) * one
    return untimed + session + GPU_CHAINS.links * one


@dataclass(frozen=True)
class SideBySide:
    """Work in pieces, at most `threads` at once; each further thread adds `gain` times the speed of the first."""

    threads: int
    gain: float

    def spent(self, seconds: float, pieces: int, shared: float = 0.0) -> Spent:
        """Time for pieces of `seconds` each, plus `shared` seconds for each piece that idle threads help with."""
        whole, rest = divmod(pieces, self.threads)
        wall = whole * self.threads / self._speed(self.threads) + rest / self._speed(rest)
        all_threads = self.threads * max(1, HOST_CORES // self.threads)
        return Spent((seconds + shared) * pieces, seconds * wall + shared * pieces / self._speed(all_threads))

    def all_of(self, seconds: float) -> Spent:
        """Time for one piece of work that all threads share."""
        return Spent(seconds, seconds / self._speed(self.threads))

    def _speed(self, threads: int) -> float:
        return 1.0 + max(0, threads - 1) * self.gain


def case_spent(problem: Problem, case: Case, call: Call, gain: float) -> Spent:
    """The host's time for one case, by the formula above; `call` is of this case, `gain` is E."""
    together = SideBySide(at_once(problem.bytes(case)), gain)
    is_redrawn = _is_redrawn(problem, case)
    part = None if problem.bytes(case) <= USUAL_RULE.large_bytes else part_seconds(problem, case)
    compared = part if part is not None else call.redraw + call.compare if is_redrawn else call.compare
    compared_by_host = part if part is not None else call.compare
    moved = alone(call.load + call.copy)
    recorded = RECORDINGS if problem.sized_inputs(problem.sizes.cpu[0], np.random.PCG64(0)) is None else 0
    twice = 0.0 if problem.nondeterministic else call.copy
    spent = alone(recorded * call.draw + twice) + _checked_spent(problem, case, call, SideBySide(HOST_CORES, gain))
    is_shared = is_redrawn and _is_drawn_in_stretches(problem, case)
    spent += _repeatedly_spent(problem, call, compared_by_host, together, is_shared=is_shared)
    digest = digest_seconds_a_byte() * work_of(problem, case, "float32").written_bytes
    # Threads help each other to make a whole case again, and with digests.
    helped = call.redraw if is_redrawn and part is None else 0.0
    answer = compared - helped
    if is_redrawn:
        spent += alone(compared if problem.nondeterministic else 0.0)
        shared = helped + (0.0 if problem.nondeterministic else digest)
        first = alone(answer) + SideBySide(HOST_CORES, gain).all_of(helped)
        again = together.spent(answer, USUAL_RULE.compared_answers, shared)
        session = _redrawn_session_spent(problem, case, call, first + again)
    else:
        threads, seconds = together.threads, call.draw + compared
        calls = math.ceil(calls_of(together.spent(seconds, threads).wall / threads + moved.wall))
        session = together.spent(seconds, calls) + moved * calls + together.spent(call.draw, -calls % threads)
    spent += session * GPU_PROFILE.sessions.sessions
    links = _checked_links_of(problem, case)
    chain = alone((0.0 if is_redrawn else 2 * call.draw) + links * call.copy) + together.spent(
        answer, links, digest + helped
    )
    return spent + chain


def _redrawn_session_spent(problem: Problem, case: Case, call: Call, compared: Spent) -> Spent:
    """Time of a session to copy, to choose excerpts, and to compare answers."""
    first, again = fetched_shares(problem, case)
    spent = alone(2 * (first * (call.load + call.copy) + USUAL_RULE.compared_answers * again * call.copy)) + compared
    if not problem.nondeterministic:
        return spent
    chosen = GPU_PROFILE.warm_up_calls + GPU_PROFILE.min_samples + REPLAYED_CALLS + USUAL_RULE.compared_answers
    return spent + alone(chosen * excerpt_seconds(problem, case))


def _checked_spent(problem: Problem, case: Case, call: Call, spread: SideBySide) -> Spent:
    """Time to draw and compare the whole case, with all threads if they can share it."""
    is_spread = _is_redrawn(problem, case) and _is_drawn_in_stretches(problem, case)
    drawn = spread.all_of(call.draw) if is_spread else alone(call.draw)
    in_stretches = _is_compared_in_stretches(problem, case)
    return drawn + (spread.all_of(call.compare) if in_stretches else alone(call.compare))


def _repeatedly_spent(problem: Problem, call: Call, compared: float, together: SideBySide, *, is_shared: bool) -> Spent:
    """Time of repeated calls, `compared` seconds for each answer; `is_shared` if threads share the drawing."""
    few, moved = replace(together, threads=min(together.threads, FEWEST_REPEATED)), alone(call.load + call.copy)
    own, shared = (0.0, call.draw) if is_shared else (call.draw, 0.0)
    calls = repeated_calls(problem, few.spent(compared + own, few.threads, shared).wall / few.threads + moved.wall)
    drawn_ahead = max(0, few.threads - calls)
    return few.spent(compared + own, calls, shared) + moved * calls + few.spent(own, drawn_ahead, shared)


@cache
def digest_seconds_a_byte() -> float:
    """CPU seconds to digest one byte, the second of two measurements."""
    output = np.arange(DIGESTED_BYTES, dtype=np.uint8)
    digest_of([(0, output)], 1)
    begin = time.process_time()
    digest_of([(0, output)], 1)
    return (time.process_time() - begin) / DIGESTED_BYTES


def excerpt_seconds(problem: Problem, case: Case) -> float:
    """CPU seconds to choose the places of an excerpt, the second of two measurements."""
    judge = CaseJudge(problem, case, RunSeed(""), 0)
    loaded = judge.undrawn(1)
    if loaded is None:
        return 0.0
    taken: list[float] = []
    for number in (1, 2):
        begin = time.process_time()
        judge.excerpt(loaded, number).slots()
        taken.append(time.process_time() - begin)
    return taken[-1]


def fetched_shares(problem: Problem, case: Case) -> tuple[float, float]:
    """Shares that are copied back: of the arrays of a session's first call, and of the outputs of a replayed call."""
    judge = CaseJudge(problem, case, RunSeed(""), 0)
    loaded = judge.undrawn(1)
    if loaded is None:
        return 1.0, 1.0
    needed = judge.needed(loaded, 1)
    first = float(needed.ranges[:, 1].sum()) / problem.bytes(case) if needed else 1.0
    needed = judge.needed(loaded, 1, judge.excerpt(loaded, 1)) if problem.nondeterministic else None
    written_bytes = work_of(problem, case, "float32").written_bytes
    return first, float(needed.ranges[:, 1].sum()) / written_bytes if needed else 1.0


def part_seconds(problem: Problem, case: Case) -> float | None:
    """CPU seconds to choose, draw and compare a part of a GPU case, the second of two; None if it has no parts."""
    taken: list[float] = []
    for number in (1, 2):
        begin = time.process_time()
        part = problem.part(case, np.random.default_rng(number))
        if part is None:
            return None
        taken.append(time.process_time() - begin + _compared_part_seconds(problem, case, part))
    return taken[-1]


def _compared_part_seconds(problem: Problem, case: Case, part: Part) -> float:
    drawn = problem.inputs(max(problem.sizes.cpu, key=problem.bytes), np.random.default_rng(0))
    rules = redraw_rules(problem, drawn) if _is_redrawn(problem, case) else None
    sized = problem.sized_inputs(case, np.random.PCG64(0)) or {}
    inputs = dict(drawn)
    for name in {name for name, value in drawn.items() if np.ndim(value)} & sized.keys() - part.places.keys():
        inputs[name] = np.resize(drawn[name], sized[name].shape)
    begin = time.process_time()
    for name in part.places.keys() & drawn.keys():
        places = part.places[name]
        if rules:
            # This memory is never touched: a device would have it.
            unmade = cast("Unmade", sized[name])
            untouched = np.empty(unmade.shape, unmade.dtype)
            inputs[name] = remade_at(untouched, rules[name], 1, 0, places)
        else:
            inputs[name] = np.resize(drawn[name], places.shape)
    with np.errstate(all="ignore"):
        expected = problem.reference(part.case, inputs)
        condition = problem.condition(part.case, inputs, expected)
    for name, value in expected.items():
        compare(value.astype(np.float32), value, condition[name], problem.tolerance)
    return time.process_time() - begin


def _is_redrawn(problem: Problem, case: Case) -> bool:
    """True if the device draws the inputs; the distribution of an input is the same at any size."""
    if problem.bytes(case) <= USUAL_RULE.large_bytes:
        return False
    return CaseJudge(problem, case, RunSeed(""), 0).undrawn(1) is not None


def _is_drawn_in_stretches(problem: Problem, case: Case) -> bool:
    sized = problem.sized_inputs(case, np.random.PCG64(0)) or {}
    return max((math.prod(getattr(value, "shape", ())) for value in sized.values()), default=0) >= DRAWN_IN_STRETCHES


def _is_compared_in_stretches(problem: Problem, case: Case) -> bool:
    if problem.bytes(case) <= USUAL_RULE.large_bytes:
        return False
    return _is_large_product(problem) or problem.part(case, Stretch(0, 1 << 10)) is not None


def _is_checked_wholly(problem: Problem, case: Case) -> bool:
    return GPU_CHAINS.links * problem.bytes(case) <= GPU_CHAINS.wholly_checked_bytes


def links_of(problem: Problem, case: Case) -> int:
    """Number of calls in a chain, whose outputs are all kept."""
    return int(min(GPU_CHAINS.links, GPU_CHAINS.most_bytes // work_of(problem, case, "float32").written_bytes))


def _checked_links_of(problem: Problem, case: Case) -> int:
    links = links_of(problem, case)
    return links if _is_checked_wholly(problem, case) else min(links, GPU_CHAINS.checked_links + 1)


def _fetched_bytes(problem: Problem, case: Case) -> float:
    if not _is_redrawn(problem, case):
        return 0.0
    return (
        at_once(problem.bytes(case))
        * work_of(problem, case, "float32").written_bytes
        * fetched_shares(problem, case)[1]
    )


def measured_case(problem: Problem, most_bytes: int = MEASURED_BYTES) -> Case:
    """The largest case up to 64 MiB, also a hidden one: the fixed cost of a call must not be scaled up."""
    random = np.random.default_rng(0)
    hidden = [problem.hidden_case(SizeSet.GPU, random) for _ in range(8)]
    fitting = [case for case in (*problem.sizes.gpu, *hidden) if problem.bytes(case) <= most_bytes]
    return max(fitting or problem.sizes.cpu, key=problem.bytes)


def measured_call(problem: Problem) -> Call:
    """Measures one call, the second of two, so that first-time costs do not count."""
    case = measured_case(problem)
    judge = CaseJudge(problem, case, RunSeed(""), 0)
    steps = [_steps(problem, judge, number) for number in (1, 2)][-1]
    tracemalloc.start()
    _steps(problem, judge, 3)
    memory_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return replace(steps, memory_bytes=memory_bytes).scaled(1.0 / problem.bytes(case))


def _steps(problem: Problem, judge: CaseJudge, number: int) -> Call:
    """Makes the judge's steps of a whole call. The outputs are the reference; comparing computes it once more."""
    begin = time.process_time()
    trial = judge.draw(number)
    for value in trial.inputs.values():
        np.array(value)
    drawn = time.process_time()
    for at, (name, rule) in enumerate((redraw_rules(problem, trial.inputs) or {}).items()):
        if name in trial.inputs:
            remade(trial.inputs[name], rule, number, at)
    made_again = time.process_time()
    memory = [np.array(value) for value in trial.inputs.values()]
    filled = time.process_time()
    for value, into in zip(trial.inputs.values(), memory, strict=True):
        np.copyto(into, value)
    loaded = time.process_time()
    dtypes = {parameter.name: parameter.dtype for parameter in problem.parameters}
    with np.errstate(all="ignore"):
        outputs = {name: np.asarray(value).astype(dtypes[name]) for name, value in judge.expected(trial).items()}
    kept = {name: np.ones_like(output) for name, output in outputs.items()}
    answered = time.process_time()
    for name, output in outputs.items():
        np.copyto(kept[name], output)
    copied = time.process_time()
    for output in outputs.values():
        np.array(output)
    factors = problem.factors(judge.case, trial.inputs) if _is_large_product(problem) else None
    if factors is None:
        judge.fault(trial, outputs)
    else:
        check_product(outputs[factors.output], factors, problem.tolerance, np.random.default_rng(number))
    compared = time.process_time()
    return Call(drawn - begin, made_again - drawn, loaded - filled, compared - copied, copied - answered, 0.0)


def _is_large_product(problem: Problem) -> bool:
    """True if the problem has factors and its GPU cases would take too long to compute whole."""
    return statistics.median(problem.flops(case) for case in problem.sizes.gpu) > USUAL_RULE.wholly_compared_flops


def gain_of_a_thread(problem: Problem) -> float:
    """Gain in speed of two threads that draw and compare two calls over one thread, less 1; the best of three tries.

    The first try uses fresh memory.
    """
    judge = CaseJudge(problem, measured_case(problem, MEASURED_BYTES // 2), RunSeed(""), 0)

    def call(number: int) -> None:
        _steps(problem, judge, number)

    def least_seconds(work: Callable[[], object]) -> float:
        tries: list[float] = []
        for _ in range(3):
            begin = time.perf_counter()
            work()
            tries.append(time.perf_counter() - begin)
        return min(tries)

    with ThreadPoolExecutor(2) as threads:
        one_after_the_other = least_seconds(lambda: [call(number) for number in (1, 2)])
        at_once = least_seconds(lambda: list(threads.map(call, (1, 2))))
    return min(1.0, max(0.0, one_after_the_other / at_once - 1.0))


def cost_of(problem: Problem, roofs: Roofs, gain: float | None = None) -> Cost:
    """Measures a call, and E if no `gain` is given, and scales it to all GPU cases."""
    of_byte, all_checked, spent, kernel_seconds = measured_call(problem), 0.0, Spent(), 0.0
    gain = gain_of_a_thread(problem) if gain is None else gain
    sizes_bytes = [problem.bytes(case) for case in problem.sizes.gpu]
    for case, size_bytes in zip(problem.sizes.gpu, sizes_bytes, strict=True):
        call = of_byte.scaled(size_bytes)
        all_checked += all_checked_seconds(problem, call)
        spent += case_spent(problem, case, call, gain)
        kernel = _kernel_seconds(problem, case, roofs)
        samples = _samples_of(kernel)
        sessions, calls = GPU_PROFILE.sessions.sessions, GPU_PROFILE.warm_up_calls + samples
        kernel_seconds += (sessions * calls + links_of(problem, case)) * kernel
        if _is_redrawn(problem, case):
            replayed = min(samples, calls_to_replay(kernel, USUAL_RULE.compared_answers))
            digested_bytes = 0.0 if problem.nondeterministic else work_of(problem, case, "float32").written_bytes
            digest = digested_bytes / roofs.bytes_per_second
            kernel_seconds += sessions * (replayed * kernel + (calls + replayed) * digest)
    return Cost(
        problem.slug,
        (of_byte.draw + of_byte.compare) * statistics.median(sizes_bytes),
        all_checked,
        spent,
        kernel_seconds,
        max(sizes_bytes),
        max(
            of_byte.memory_bytes * at_once(problem.bytes(case)) * problem.bytes(case) + _fetched_bytes(problem, case)
            for case in problem.sizes.gpu
        ),
        gain,
    )


def _samples_of(kernel_seconds: float) -> float:
    """Number of samples of a steady kernel in a session; a slow kernel is examined every twenty samples."""
    slow = max(1, math.ceil(GPU_PROFILE.slow_device_seconds / kernel_seconds / GPU_PROFILE.check_every))
    most = max(GPU_PROFILE.fewest_samples, GPU_PROFILE.max_device_seconds / kernel_seconds)
    return min(GPU_PROFILE.min_samples, slow * GPU_PROFILE.check_every, most)


def _kernel_seconds(problem: Problem, case: Case, roofs: Roofs) -> float:
    work = work_of(problem, case, "float32")
    moved = (work.read_bytes + work.written_bytes) / roofs.bytes_per_second
    return max(floor_of(roofs, work).seconds, moved, work.flops / peak_of(roofs, work.dtype))


def main(arguments: list[str] | None = None) -> int:
    """Prints a line for each problem, and the aims."""
    parser = argparse.ArgumentParser(description="Compute what a submission at GPU sizes costs its host.")
    parser.add_argument("slugs", nargs="*", help="problems; all where none is given")
    parser.add_argument("--gain", type=float, help="E, on a machine that is too busy to measure it, such as 0.5")
    chosen = parser.parse_args(arguments)
    keep_freed_memory(FREED_BYTES_KEPT)
    roofs = roofs_of("gfx942", "AMD Instinct MI300X")
    if roofs is None:
        raise SystemExit("the roofs of the MI300X are missing")
    columns = f"{'CPU s/call':>11}{'all checked':>12}{'CPU s':>10}{'kernel s':>10}{'wall s':>9}"
    columns += f"{'copied GiB':>12}{'memory GiB':>12}{'E':>6}"
    print(f"{'problem':<36}{columns}")
    costs: list[Cost] = []
    for slug in chosen.slugs or sorted(catalogue().problems):
        cost = cost_of(catalogue().get(slug).problem, roofs, chosen.gain)
        costs.append(cost)
        print(
            f"{cost.slug:<36}{cost.call_cpu_seconds:>11.2f}{cost.all_checked_cpu_seconds:>12.0f}"
            f"{cost.spent.cpu:>10.0f}{cost.kernel_seconds:>10.2f}"
            f"{cost.wall_seconds:>9.0f}{cost.copied_bytes / GIB:>12.2f}{cost.memory_bytes / GIB:>12.2f}"
            f"{cost.gain:>6.2f}",
            flush=True,
        )
    walls, cpus = [cost.wall_seconds for cost in costs], [cost.spent.cpu for cost in costs]
    print(f"{len(costs)} problems; a call is of the median size, copied and memory are of the largest")
    before = statistics.median(cost.all_checked_cpu_seconds for cost in costs)
    print(f"CPU s at the median if all calls were checked: {before:.0f}")
    for name, figure, aim in (
        ("CPU s at the median", statistics.median(cpus), AIM_CPU_SECONDS),
        ("wall s at the median", statistics.median(walls), AIM_MEDIAN_SECONDS),
        ("wall s at the worst", max(walls), AIM_WORST_SECONDS),
    ):
        print(f"{name}: {figure:.0f} (aim {aim:.0f}): {'met' if figure <= aim else 'missed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
