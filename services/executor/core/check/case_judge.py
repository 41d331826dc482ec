"""Makes the inputs of each call of one case, and judges the answers.

Every call that the host draws is treated alike, whether it is timed or not. All inputs are new, outputs are poisoned
with new random bits, and guard bands lie around every array. The outputs are compared with a reference that is computed
after the call: every element, or those of a part that nobody knew before. So a submission has nothing by which it could
tell calls apart, and nothing worth remembering.

To draw a large case takes the host longer than everything else. If we launch its kernels, and every input is an array
of a distribution, the device draws the inputs of each call from a key, by the rules of the loaded trial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.comparison import Comparison, compare, joined, unit_of
from problems.kit.definition import Case, Part, Problem, Tolerance
from problems.kit.distributions import Unmade, as_drawn
from problems.kit.element_types import is_floating
from problems.kit.factors import Factors
from problems.kit.freivalds import check_product
from problems.kit.imprecision import Precision, precision_of
from problems.kit.parts import Stretch, within
from problems.kit.planting import is_spiked_as_drawn, planted
from problems.kit.signature import Initial, Parameter
from problems.kit.threads import on_threads
from services.executor.core.call.commitment import Allowance, Excerpt, Needed, allowance_of
from services.executor.core.call.layout import (
    EXCERPT_ELEMENTS,
    GUARD_BYTES,
    PAGE_BYTES,
    SHIFT_STEP_BYTES,
    SHIFTS,
    Layout,
    LinkRule,
    Region,
    layout_of,
    plan_bytes,
)
from services.executor.core.call.runner_claims import interference
from services.executor.core.check.chain_arithmetic import remade, remade_at
from services.executor.core.check.chain_rules import redraw_rules
from services.executor.core.check.mismatches import judged, modified_input, nondeterministic, out_of_bounds
from services.executor.core.check.side_by_side import at_once
from services.executor.core.check.wrong_places import Compared, located
from services.executor.core.model.failure import Failure
from services.executor.core.model.seeds import RunSeed
from services.executor.core.problem_host.authors_problem import AuthorsProblem
from services.executor.core.problem_host.objection import objection
from services.executor.core.sandbox.channel import Channel

_Places = dict[str, "NDArray[np.uint64]"]
# Poison repeats after this many bytes: enough that no kernel can make use of a repetition.
_POISON_BYTES = 1 << 16
_NO_POISON = bytes(_POISON_BYTES)


@dataclass(frozen=True)
class LargeCaseRule:
    """The size from which a case is large, and the ways in which the calls of large cases are drawn and compared."""

    large_bytes: int = 4 << 20
    """Larger cases are drawn by the device and compared in parts, except for the first check. A host draws and compares
    this much in some hundredths of a second."""
    stretch_bytes: int = 2 << 20
    """A large answer is compared by stretches of this size, whose fp64 arrays stay in the processor's cache."""
    side_by_side_bytes: int = 1 << 20
    """Calls of smaller cases are drawn and compared one by one, because threads would gain nothing."""
    wholly_compared_flops: float = 4e9
    """The most work of a matrix product whose whole answer is compared: about a quarter of a second in fp64 on two
    cores. Larger products are checked by factors."""
    compared_answers: int = 8
    """The number of a session's repeated calls whose answers are compared. Suppose that half of its samples are off by
    more than the problem allows, but by less than makes answers unlike. Then none of the wrong ones is compared in one
    session of 256, or in two sessions of one run in 65,000."""


USUAL_RULE = LargeCaseRule()


@dataclass(frozen=True)
class Trial:
    """The inputs, guard bands and poison of call number `call`; `guards` has the band of each array.

    `rules` are those of the chain, or of the redrawn calls, that the trial begins, if any. Of an input that a device
    draws, only the shape counts then. If there is a `part`, the inputs are those of the part, and the answer is judged
    by them.
    """

    inputs: Mapping[str, Any]
    layout: Layout
    guards: Mapping[str, bytes]
    poison: bytes
    call: int
    rules: Mapping[str, LinkRule] = field(default_factory=dict[str, LinkRule])
    part: Part | None = None

    def compared(self, outputs: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Returns the outputs, or the trial's part of them, to compare."""
        return self.part.of(outputs) if self.part else outputs


class _NotRightError(Exception):
    """A stretch of an answer is wrong, or cannot be judged alone."""


class CaseJudge:
    """Judges calls of one case. The random values of each call depend on the seed, `case_index` and its number."""

    def __init__(
        self, problem: Problem, case: Case, seed: RunSeed, case_index: int, large: LargeCaseRule = USUAL_RULE
    ) -> None:
        self.problem = problem
        self.large = large
        self.case = case
        self._seed = seed
        self.case_index = case_index
        self._is_hidden = case not in (*problem.sizes.cpu, *problem.sizes.gpu)
        self._buffers: dict[str, NDArray[Any]] = {}

    def part(self, trial: Trial, call: int) -> Part | None:
        """Returns the part by which a large answer is judged, chosen for this call; None if the whole is judged."""
        if trial.layout.file_bytes <= self.large.large_bytes:
            return None
        return self.problem.part(self.case, self._seed.generator("part", self.case_index, call))

    def in_part(self, trial: Trial) -> Trial:
        """Returns the trial as its answer is judged: with a part of it, if it is large."""
        part = None if trial.part else self.part(trial, trial.call)
        return trial if part is None else replace(trial, inputs=part.of(trial.inputs), part=part)

    @cached_property
    def at_once(self) -> int:
        """The number of calls to draw, or to compare, side by side; 1 if an author's own code does that."""
        size_bytes = 0 if isinstance(self.problem, AuthorsProblem) else int(self.problem.bytes(self.case))
        return at_once(size_bytes) if size_bytes >= self.large.side_by_side_bytes else 1

    def undrawn(self, call: int, links: int = 0) -> Trial | None:
        """Returns a call or chain of a large case whose inputs a device draws by rules; None if the host has to."""
        if not self._is_drawable:
            return None
        places = self._seed.generator("planting", self.case_index, call)
        sized = planted(self.problem, self._sized_inputs(self.case, call), places, scales=self._is_hidden or links > 0)
        # Zeros that nobody touches take no room and no time, and reveal nothing of the earlier content of this memory.
        inputs = {
            name: as_drawn(np.zeros(value.shape, value.dtype), value.recipe) if isinstance(value, Unmade) else value
            for name, value in sized.items()
        }
        return replace(self._surrounded(inputs, call, links), rules=redraw_rules(self.problem, inputs) or {})

    def remade(self, trial: Trial, key: int, call: int) -> Trial:
        """Returns the trial by which a call is judged, with the inputs that a device made by its rules and `key`."""
        part, inputs = self.part(trial, call), dict(trial.inputs)
        for at, parameter in enumerate(trial.layout.parameters):
            name = parameter.name
            if name not in trial.rules or parameter.output:
                continue
            places = part.places.get(name) if part else None
            made = (trial.inputs[name], trial.rules[name], key, at)
            inputs[name] = remade(*made) if places is None else remade_at(*made, places)
        return replace(trial, inputs=inputs, call=call, part=part)

    def publish(self, channel: Channel, call: int) -> Trial:
        """Draws call number `call` of the run and writes all of it into the shared memory."""
        trial = self.draw(call)
        self.write(channel, trial)
        return trial

    def draw(self, call: int, links: int = 0) -> Trial:
        """Draws and plants the inputs of call number `call`, and leaves room for the records of a chain."""
        drawn = self.problem.inputs(self.case, self._seed.generator("inputs", self.case_index, call))
        places = self._seed.generator("planting", self.case_index, call)
        inputs = planted(self.problem, drawn, places, scales=self._is_hidden or links > 0)
        return self._surrounded(inputs, call, links)

    def again(self, trial: Trial, call: int) -> Trial:
        """Returns a trial with the same inputs at other addresses, with other poison and guards."""
        return self._surrounded(trial.inputs, call, 0)

    def write(self, channel: Channel, trial: Trial) -> None:
        """Writes a trial into the shared memory; of arrays that its rules make again, only the guards."""
        layout = trial.layout
        channel.resize(layout.file_bytes)
        channel.write(0, [plan_bytes(layout, trial.inputs, trial.rules)])
        for name, region in layout.regions.items():
            if name in trial.rules and trial.rules[name].is_anew:
                for offset in (region.offset, region.end - GUARD_BYTES):
                    channel.write(offset, [trial.guards[name]])
                continue
            data = _initial(region, trial) if region.parameter.output else [_bytes_of(trial.inputs, region)]
            channel.write(region.offset, [trial.guards[name], *data, trial.guards[name]])

    def collect(
        self,
        channel: Channel,
        trial: Trial,
        into: dict[str, NDArray[Any]] | None = None,
        needed: Needed | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Reads all arrays back, or the needed bytes of them, and returns the outputs.

        If `into` is given, the outputs are read into its arrays, which the next call does not reuse. Raises Failure if
        a guard or a read-only input has changed; an input is compared in the trial's part only, if it has one.
        """
        outputs = self.collect_outputs(channel, trial, into, needed)
        for name, region in trial.layout.regions.items():
            if region.parameter.output:
                continue
            data = self._guarded(channel, region, trial, self._buffers, needed)
            places = trial.part.places.get(name) if trial.part else None
            seen = data if places is None else data.reshape(-1)[places]
            if region.parameter.const and not _same_bytes(seen, trial.inputs[name]):
                raise modified_input(self.case, region, seen, trial.inputs[name], places)
        return outputs

    def collect_outputs(
        self,
        channel: Channel,
        trial: Trial,
        into: dict[str, NDArray[Any]] | None = None,
        needed: Needed | None = None,
    ) -> dict[str, NDArray[Any]]:
        """Reads the outputs alone, or the needed bytes of them.

        If `into` is given, they are read into its arrays, which the next call does not reuse. Raises Failure if a guard
        beside them has changed.
        """
        arrays = self._buffers if into is None else into
        return {name: self._guarded(channel, r, trial, arrays, needed) for name, r in trial.layout.outputs.items()}

    def expected(self, trial: Trial) -> dict[str, NDArray[Any]]:
        """Computes the reference by output: fp64, or exact integers."""
        return self.problem.reference(_judged_case(self.case, trial), trial.inputs)

    def excerpt(self, loaded: Trial, call: int) -> Excerpt:
        """Chooses the elements of its answer that are sent for a call whose inputs a device draws."""
        part, random = self.part(loaded, call), self._seed.generator("excerpt", self.case_index, call)
        outputs, places = loaded.layout.outputs, _Places()
        for name, region in outputs.items():
            anywhere = random.integers(0, prod(region.shape), EXCERPT_ELEMENTS, np.uint64)
            if part is not None:
                within = part.places[name].reshape(-1)
                compared = within[random.integers(0, within.size, EXCERPT_ELEMENTS // 2)]
                anywhere[: compared.size] = compared
            places[name] = anywhere
        dtypes = {name: region.parameter.dtype for name, region in outputs.items()}
        return Excerpt(loaded.layout.records_offset, places, dtypes)

    def needed(self, loaded: Trial, call: int, excerpt: Excerpt | None = None) -> Needed | None:
        """Returns the pages by which such a call is judged; None if the whole is judged, or if these are most pages.

        They are pages of the outputs if there is an excerpt, otherwise of all arrays.
        """
        part = self.part(loaded, call)
        if part is None:
            return None
        ranges: list[NDArray[np.int64]] = []
        regions = loaded.layout.outputs if excerpt else loaded.layout.regions
        for name, region in regions.items():
            # With a page of guards on each side.
            is_needed = np.zeros(region.data_bytes // PAGE_BYTES + 3, np.bool_)
            is_needed[[0, -2, -1]] = True
            of_part, of_excerpt = part.places.get(name), excerpt and excerpt.places[name].view(np.int64)
            if of_part is None:
                is_needed[:] = True
            for places in (one for one in (of_part, of_excerpt) if one is not None):
                is_needed[1 + places * region.parameter.dtype.itemsize // PAGE_BYTES] = True
            begins, ends = np.flatnonzero(np.diff(is_needed, prepend=False, append=False)).reshape(-1, 2).T * PAGE_BYTES
            ranges.append(region.offset + np.stack((begins, np.minimum(ends, region.end - region.offset)), axis=1))
        found = np.concatenate(ranges)
        found[:, 1] -= found[:, 0]
        all_bytes = sum(region.end - region.offset for region in regions.values())
        room_bytes = loaded.layout.file_bytes - loaded.layout.records_offset
        is_most = 2 * found[:, 1].sum() > all_bytes or found.nbytes > room_bytes
        return None if is_most else Needed(loaded.layout.records_offset, found.view(np.uint64))

    def allowances(self, trial: Trial) -> dict[str, Allowance]:
        """Returns by output the error that the elements of right answers to these inputs may have."""
        expected, tolerance = self.expected(trial), self.problem.tolerance
        condition = self.problem.condition(_judged_case(self.case, trial), trial.inputs, expected)
        dtypes = {name: region.parameter.dtype for name, region in trial.layout.outputs.items()}
        return {
            name: allowance_of(expected[name], tolerance.units * unit_of(dtype, condition[name], tolerance))
            for name, dtype in dtypes.items()
        }

    def fault(self, trial: Trial, outputs: Mapping[str, NDArray[Any]]) -> Failure | None:
        """Returns the fault of the outputs, or None; if the trial has a part, `outputs` are that part."""
        factors = None if trial.part else self.problem.factors(self.case, trial.inputs)
        if factors is not None and factors.flops > self.large.wholly_compared_flops:
            return self._product_fault(trial, outputs[factors.output], factors)
        if trial.part is None and self._is_right_by_stretches(trial, outputs):
            return None
        expected = self.expected(trial)
        condition = self.problem.condition(_judged_case(self.case, trial), trial.inputs, expected)
        comparisons: dict[str, Comparison] = {}
        unwritten: dict[str, int] = {}
        precisions: dict[str, Precision] = {}
        compared: dict[str, Compared] = {}
        tolerance = self.problem.tolerance
        for name, output in outputs.items():
            comparisons[name] = _in_whole(compare(output, expected[name], condition[name], tolerance), trial, name)
            if not comparisons[name].passed:
                poisoned = _poisoned(output, trial.layout.regions[name], trial)
                unwritten[name] = _wrong_of(poisoned, output, expected[name], condition[name], tolerance)
                precisions[name] = precision_of(output, expected[name], condition[name], tolerance)
                places = trial.part.places[name] if trial.part else None
                shape = trial.layout.regions[name].shape
                compared[name] = Compared(shape, output, expected[name], condition[name], places)
        if precisions:
            failure = judged(self.case, comparisons, unwritten, precisions, tolerance)
            return located(failure, comparisons, compared, tolerance)
        return objection(self.problem, self.case, trial.inputs, outputs, expected)

    def _is_right_by_stretches(self, trial: Trial, outputs: Mapping[str, NDArray[Any]]) -> bool:
        """True if the stretches that make up the whole are all right; if False, the whole has to be compared."""
        stretches = trial.layout.file_bytes // self.large.stretch_bytes
        if trial.layout.file_bytes <= self.large.large_bytes:
            return False

        def compared(number: int) -> dict[str, Comparison]:
            """Compares one stretch; raises _NotRightError unless each of its elements is right."""
            part = self.problem.part(self.case, Stretch(number, stretches))
            if part is None:
                raise _NotRightError
            if not any(part.places[name].size for name in outputs):
                return {}
            inputs = part.of(trial.inputs)
            expected = self.problem.reference(part.case, inputs)
            condition = self.problem.condition(part.case, inputs, expected)
            tolerance = self.problem.tolerance
            actual = part.of(outputs)
            found = {name: compare(actual[name], expected[name], condition[name], tolerance) for name in outputs}
            if any(comparison.mismatches for comparison in found.values()):
                raise _NotRightError
            return found

        try:
            found = [comparisons for comparisons in on_threads(compared, range(stretches)) if comparisons]
        except _NotRightError:
            return False
        wholes = {name: joined([comparisons[name] for comparisons in found]) for name in outputs if found}
        return all(
            name in wholes and wholes[name].passed and wholes[name].elements == output.size
            for name, output in outputs.items()
        )

    def verify(self, channel: Channel, trial: Trial, needed: Needed | None = None) -> None:
        """Raises Failure unless the call was right in every respect; a large answer is judged by a part."""
        if failure := self.fault_in_part(trial, self.collect(channel, trial, needed=needed)):
            raise failure

    def fault_in_part(self, trial: Trial, outputs: dict[str, NDArray[Any]]) -> Failure | None:
        """Returns the fault of whole outputs, or None; large ones are judged by a part."""
        seen = self.in_part(trial)
        return self.fault(seen, seen.compared(outputs))

    def differs(self, outputs: Mapping[str, NDArray[Any]], others: Mapping[str, NDArray[Any]]) -> Failure | None:
        """Returns the fault of two answers to the same inputs: None if they are alike or may differ."""
        if self.problem.nondeterministic:
            return None
        for name, output in outputs.items():
            if not _same_bytes(output, others[name]):
                return nondeterministic(self.case, name, output, others[name])
        return None

    @cached_property
    def _is_drawable(self) -> bool:
        if not all(map(is_spiked_as_drawn, self.problem.domains.values())):
            return False
        # A small case rules out most problems whose arrays would be drawn here after all.
        if not redraw_rules(self.problem, self._sized_inputs(self.problem.sizes.cpu[0], 0)):
            return False
        inputs = self._sized_inputs(self.case, 0)
        if not redraw_rules(self.problem, inputs):
            return False
        layout = layout_of(self.problem.parameters, self.problem.shapes(self.case, inputs))
        return layout.file_bytes > self.large.large_bytes

    def _sized_inputs(self, case: Case, call: int) -> Mapping[str, Any]:
        """Returns inputs of the right sizes, or nothing if only the values tell the sizes."""
        bits = self._seed.generator("inputs", self.case_index, call).bit_generator
        return self.problem.sized_inputs(case, bits) or {}

    def _surrounded(self, inputs: Mapping[str, Any], call: int, links: int) -> Trial:
        bits = self._seed.generator("poison", self.case_index, call)
        shift_bytes = int(bits.integers(SHIFTS)) * SHIFT_STEP_BYTES
        shapes = self.problem.shapes(self.case, inputs)
        layout = layout_of(self.problem.parameters, shapes, links, shift_bytes)
        guards = {name: guard_band(region.parameter, bits) for name, region in layout.regions.items()}
        return Trial(inputs, layout, guards, bits.bytes(_POISON_BYTES), call)

    def _product_fault(self, trial: Trial, output: NDArray[Any], factors: Factors) -> Failure | None:
        tolerance, name = self.problem.tolerance, factors.output
        signs = self._seed.generator("product check", self.case_index, trial.call)
        found = check_product(output, factors, tolerance, signs)
        if found.precision is None:
            return None
        poisoned = int(_poisoned(output, trial.layout.regions[name], trial).sum())
        # By chance, this many elements of a narrow type equal the poison although they were written.
        chance = output.size / 256.0**output.dtype.itemsize
        unwritten = {name: poisoned if poisoned > chance + 8.0 * chance**0.5 else 0}
        failure = judged(self.case, {name: found.comparison}, unwritten, {name: found.precision}, tolerance)
        places = within(found.rows, factors.right.shape[1])
        compared = Compared(output.shape, found.actual, found.expected, found.condition, places)
        return located(failure, {name: found.comparison}, {name: compared}, tolerance)

    def _guarded(
        self,
        channel: Channel,
        region: Region,
        trial: Trial,
        arrays: dict[str, NDArray[Any]],
        needed: Needed | None = None,
    ) -> NDArray[Any]:
        data, guards = _read_some(channel, region, needed) if needed else _read(channel, region, arrays)
        before = trial.guards[region.parameter.name]
        for guard, is_after in zip(guards, (False, True), strict=True):
            if guard != before:
                raise out_of_bounds(self.case, region, _first_change(guard, before), is_after=is_after)
        return data


def _judged_case(case: Case, trial: Trial) -> Case:
    return trial.part.case if trial.part else case


def _in_whole(comparison: Comparison, trial: Trial, name: str) -> Comparison:
    """Returns the comparison with the places of wrong elements in the whole output."""
    if trial.part is None:
        return comparison
    places, shape = trial.part.places[name], trial.layout.regions[name].shape
    located = [np.unravel_index(int(places[one.index]), shape) for one in comparison.first]
    first = (replace(one, index=tuple(map(int, at))) for one, at in zip(comparison.first, located, strict=True))
    return replace(comparison, first=tuple(first), of_elements=prod(shape))


def guard_band(parameter: Parameter, bits: np.random.Generator) -> bytes:
    """Returns the bytes on each side of an array: NaNs beside an input of floats, random bits beside everything else.

    So a kernel that reads a float beside an input gives NaN every time, not once in 256. Signs and payloads are random,
    and each array has a band of its own: a kernel that copies from beside one array to beside another changes the
    latter. Beside outputs all bits are random, because only random bits show every write of a NaN.
    """
    random = bits.bytes(GUARD_BYTES)
    if parameter.output or not is_floating(parameter.dtype):
        return random
    # A quiet NaN stays one whatever other bits are set, but for types that have a single NaN.
    quiet = np.full(GUARD_BYTES // parameter.dtype.itemsize, np.nan, parameter.dtype)
    band = (quiet.view(np.uint8) | np.frombuffer(random, np.uint8)).view(parameter.dtype)
    return band.tobytes() if np.isnan(band).all() else quiet.tobytes()


def _read(
    channel: Channel, region: Region, arrays: dict[str, NDArray[Any]]
) -> tuple[NDArray[Any], tuple[bytes, bytes]]:
    """Reads an array and the bands beside it, into the array of that name in `arrays` if it fits."""
    name = region.parameter.name
    if name not in arrays or arrays[name].shape != region.shape:
        arrays[name] = np.empty(region.shape, region.parameter.dtype)
    before, after = bytearray(GUARD_BYTES), bytearray(GUARD_BYTES)
    raw = arrays[name].reshape(-1).view(np.uint8).data
    if not channel.read(region.offset, [memoryview(before), raw, memoryview(after)]):
        raise interference("the shared memory was cut")
    return arrays[name], (bytes(before), bytes(after))


def _read_some(channel: Channel, region: Region, needed: Needed) -> tuple[NDArray[Any], tuple[bytes, bytes]]:
    """Reads the needed bytes of an array and of the bands beside it; the rest is memory that nobody touches."""
    raw = np.empty(region.end - region.offset, np.uint8)
    for begin, size in needed.ranges.astype(np.int64) - (region.offset, 0):
        if 0 <= begin < raw.size and not channel.read(region.offset + int(begin), [raw[begin : begin + size].data]):
            raise interference("the shared memory was cut")
    data = raw[GUARD_BYTES:-GUARD_BYTES].view(region.parameter.dtype).reshape(region.shape)
    return data, (raw[:GUARD_BYTES].tobytes(), raw[-GUARD_BYTES:].tobytes())


def _initial(region: Region, trial: Trial) -> list[memoryview | bytes]:
    block = _NO_POISON if region.parameter.initial is Initial.ZERO else trial.poison
    whole, rest = divmod(region.data_bytes, len(block))
    return [*[block] * whole, memoryview(block)[:rest]]


def _bytes_of(inputs: Mapping[str, Any], region: Region) -> memoryview:
    array = np.ascontiguousarray(inputs[region.parameter.name])
    if array.dtype != region.parameter.dtype:
        raise TypeError(f"the problem's input `{region.parameter.name}` is {array.dtype}, not {region.parameter.dtype}")
    return array.reshape(-1).view(np.uint8).data


def _same_bytes(left: NDArray[Any], right: NDArray[Any]) -> bool:
    a, b = left.reshape(-1).view(np.uint8), np.ascontiguousarray(right).reshape(-1).view(np.uint8)
    words = a.size // 8 * 8
    return np.array_equal(a[:words].view(np.uint64), b[:words].view(np.uint64)) and np.array_equal(a[words:], b[words:])


def _first_change(left: bytes, right: bytes) -> int:
    return next(at for at, (a, b) in enumerate(zip(left, right, strict=True)) if a != b)


def _poisoned(output: NDArray[Any], region: Region, trial: Trial) -> NDArray[np.bool_]:
    """Marks the elements, flat, that are still the poison; none if the output began with zeros."""
    if region.parameter.initial is Initial.ZERO:
        return np.zeros(output.size, np.bool_)
    size = region.parameter.dtype.itemsize
    poison = np.frombuffer(trial.poison, np.uint8).reshape(-1, size)
    if trial.part:
        before = poison[trial.part.places[region.parameter.name].reshape(-1) % len(poison)]
    else:
        before = np.resize(poison, (output.size, size))
    return (before == output.reshape(-1).view(np.uint8).reshape(-1, size)).all(axis=1)


def _wrong_of(
    places: NDArray[np.bool_],
    output: NDArray[Any],
    expected: NDArray[Any],
    condition: NDArray[Any],
    tolerance: Tolerance,
) -> int:
    """Counts the wrong elements among those at flat `places`: poison of a narrow type can be the right answer."""
    scale = np.broadcast_to(condition, expected.shape)
    actual, reference, scale = (values.reshape(-1)[places] for values in (output, expected, scale))
    return compare(actual, reference, scale, tolerance, first=0).mismatches
