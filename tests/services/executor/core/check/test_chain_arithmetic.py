"""The judge's arithmetic against the runner's: the same bits for all sizes, types and rules."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import isqrt, prod
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.kit import parts
from problems.kit.chaining import FIXED, MANTISSAS, ROLL, SIGNS, SYMMETRIC, ChainRule, Change, integers, weights
from problems.kit.definition import Case
from problems.kit.distributions import (
    SPANS,
    WHOLE_SPAN,
    Blocks,
    Codes,
    Distribution,
    Form,
    Recipe,
    Span,
    Whole,
    formed,
    recipe_of,
    sample,
    scaled,
    some_blocks,
    some_codes,
    turned,
    whole_numbers,
)
from problems.kit.signature import Initial
from problems.kit.threads import threads_allowed
from services.executor.core.call.commitment import Commitment, Question
from services.executor.core.call.layout import EXCERPT_ELEMENTS, LinkRule, RuleKind, read_records
from services.executor.core.call.runner_session import RunnerSession
from services.executor.core.call.trusted_runner import trusted_runner
from services.executor.core.check.chain_arithmetic import (
    digest_of,
    draw_rule,
    first_key,
    mixed,
    next_key,
    remade,
    remade_at,
)
from services.executor.core.check.chain_rules import link_rules, redraw_rules
from services.executor.core.check.checking import Checker
from services.executor.core.model.failure import Failure
from services.executor.core.model.seeds import RunSeed
from services.executor.core.run.context import RunContext
from services.executor.core.run.installation import find_problem
from tests.services.executor.core import chain_in_numpy
from tests.services.executor.core.conftest import ALL_LARGE
from tests.services.executor.core.mixed_problem import MixedProblem

LINKS = 3
FLOATS = ("float", "double", "half", "__hip_bfloat16")
INTEGERS = ("int8_t", "uint16_t", "int", "uint64_t")
SMALL_FLOATS = (Codes(4, 0xF), Codes(4, 0x7), Codes(8, 0xFF, 0x7F), Codes(8, 0x7F, 0x7F), Codes(8, 0xFF))
OF_MATRICES = {Change.SYMMETRIC, Change.WEIGHTS}
words = st.integers(0, 2**64 - 1)


class Anything(MixedProblem):
    """Two inputs and two outputs of any types and sizes."""

    outputs: ClassVar[Mapping[str, Initial]] = {"y": Initial.POISON, "z": Initial.ZERO}
    host_readable = frozenset()

    def __init__(self, types: tuple[str, str], sizes: tuple[int, int, int], rules: tuple[ChainRule, ChainRule]) -> None:
        super().__init__()
        self.signature = f"const {types[0]}* a, {types[1]}* b, size_t n, uint8_t* y, {types[0]}* z"
        self.chain = dict(zip(("a", "b"), rules, strict=True))
        self._sizes = sizes

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        arrays = {p.name: p.dtype for p in self.parameters if p.name in {"a", "b"}}
        counts = dict(zip("ab", self._sizes[:2], strict=True))
        drawn = {name: _drawn(dtype, counts[name], rng) for name, dtype in arrays.items()}
        for name, array in drawn.items():
            if self.chain[name].change in OF_MATRICES:
                array.shape = (isqrt(array.size),) * 2
                array[:1] = 0
        return {**drawn, "n": 5}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return {"y": (self._sizes[2],), "z": (self._sizes[0],)}


def _drawn(dtype: np.dtype[Any], count: int, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype).copy()


def _rules(ctype: str) -> st.SearchStrategy[ChainRule]:
    if ctype in FLOATS:
        wholes = [integers(-5, 2**20), weights(1, 20)] if ctype == "float" else []
        return st.sampled_from([FIXED, MANTISSAS, SIGNS, SYMMETRIC, ROLL, *wholes])
    low = 0 if ctype.startswith("u") else -7
    return st.sampled_from([FIXED, ROLL, integers(low, 100), integers(3, 4)])


@st.composite
def anythings(draw: st.DrawFn) -> Anything:
    types = (draw(st.sampled_from(FLOATS + INTEGERS)), draw(st.sampled_from(FLOATS + INTEGERS)))
    counts = st.one_of(st.integers(0, 40), st.integers(1000, 9000))
    rules = (draw(_rules(types[0])), draw(_rules(types[1]).filter(lambda rule: rule is not FIXED)))
    a, b, c = draw(counts), draw(counts), draw(counts)
    a, b = (isqrt(n) ** 2 if rule.change in OF_MATRICES else n for n, rule in zip((a, b), rules, strict=True))
    return Anything(types, (a, b, c), rules)


@pytest.fixture
def at_work(context: RunContext) -> Iterator[tuple[asyncio.Runner, RunnerSession]]:
    with asyncio.Runner() as loop:
        opening = trusted_runner(context, context.cache)
        session = loop.run(opening.__aenter__())
        yield loop, session
        loop.run(opening.__aexit__(None, None, None))


def test_runner_and_judge_agree_on_every_bit_of_a_chain(at_work: tuple[asyncio.Runner, RunnerSession]) -> None:
    loop, session = at_work

    @settings(max_examples=80)
    @given(anythings(), words)
    def agree(problem: Anything, nonce: int) -> None:
        loop.run(_compare(session, problem, nonce))

    agree()


async def _compare(session: RunnerSession, problem: Anything, nonce: int) -> None:
    checker = Checker(problem, RunSeed("agree"), session)
    judge = checker.judge(Case("any", {}), 0)
    trial = judge.draw(checker.next_call(), LINKS)
    trial.rules.update(link_rules(problem, trial.inputs))  # type: ignore[attr-defined]
    judge.write(session.channel, trial)
    await session.load()
    await session.prepare_chain(LINKS)
    await session.run_chain(nonce, 30)
    records = read_records(session.channel, trial.layout, LINKS)
    assert records is not None
    key = first_key(nonce)
    places = {parameter.name: at for at, parameter in enumerate(problem.parameters)}
    for link, record in enumerate(records):
        await session.fetch_link(link)
        outputs = judge.collect_outputs(session.channel, trial)
        assert not outputs["z"].view(np.uint8).any()
        assert digest_of([(places[name], output) for name, output in outputs.items()], key) == record.digest
        if link < LINKS - 1:
            key = next_key(record.digest, nonce)
    for name in ("a", "b"):
        expected = remade(trial.inputs[name], trial.rules[name], key, places[name])
        actual = judge._guarded(session.channel, trial.layout.regions[name], trial, {})
        assert actual.tobytes() == expected.tobytes()


class Samples(Anything):
    """Two inputs of one distribution, scaled by a factor and cut off at a limit; the second may have a form."""

    def __init__(
        self, kind: Distribution, size: int, scaled_to: tuple[float, float], span: Span, form: Form | None
    ) -> None:
        super().__init__(("float", "float"), (size, size, 3 * size), (MANTISSAS, MANTISSAS))
        self._drawn_as = kind, (size,), scaled_to, span
        self._form = form

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        kind, shape, (factor, limit), span = self._drawn_as
        square = shape if self._form in {None, Form.SIGNS} else (isqrt(shape[0]),) * 2
        second = sample(kind, square, rng, span=span)
        second = second if self._form is None else formed(second, self._form)
        return {
            "a": scaled(sample(kind, shape, rng, span=span), factor, limit),
            "b": scaled(second, factor, limit),
            "n": 5,
        }


class Turned(Anything):
    """Rows from a distribution, and others at all angles to them."""

    def __init__(self, kind: Distribution, shape: tuple[int, int]) -> None:
        super().__init__(("float", "float"), (prod(shape), prod(shape), 0), (MANTISSAS, MANTISSAS))
        self._drawn_as = kind, shape

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        first, second = (sample(*self._drawn_as, rng) for _ in range(2))
        return {"a": first, "b": turned(second, first, rng), "n": 5}


class InBlocks(Anything):
    """Halves and floats in blocks."""

    def __init__(self, blocks: int, length: int, octaves: tuple[int, int], signed: bool) -> None:
        super().__init__(("half", "float"), (blocks * length, blocks * length, 0), (MANTISSAS, MANTISSAS))
        self._shape, self._recipe = (blocks * length,), Blocks(length, *octaves, signed)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        dtypes = {p.name: p.dtype for p in self.parameters if p.name in {"a", "b"}}
        return {name: some_blocks(self._recipe, self._shape, rng, dtype) for name, dtype in dtypes.items()} | {"n": 5}


class Numbers(Anything):
    """Codes of small floats, and integers from a range."""

    def __init__(self, codes: Codes, numbers: tuple[int, int], size: int) -> None:
        super().__init__(("uint8_t", "int"), (size, size, 0), (ROLL, ROLL))
        self._codes, self._range, self._shape = codes, numbers, (size,)

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        numbers = whole_numbers(*self._range, self._shape, rng, np.int32)
        return {"a": some_codes(self._codes, self._shape, rng), "b": numbers, "n": 5}


def test_runner_and_judge_agree_on_every_code_and_integer_that_a_device_draws(
    at_work: tuple[asyncio.Runner, RunnerSession],
) -> None:
    loop, session = at_work

    @settings(max_examples=60)
    @given(
        st.sampled_from(SMALL_FLOATS),
        st.tuples(st.integers(0, 2**20), st.integers(1, 2**30)),
        st.integers(1, 20000),
        words,
    )
    def agree(codes: Codes, numbers: tuple[int, int], size: int, key: int) -> None:
        loop.run(_compare_redrawn(session, Numbers(codes, numbers, size), key, {RuleKind.CODES, RuleKind.INTEGERS}))

    agree()


def test_runner_and_judge_agree_on_every_turned_row_and_every_block_that_a_device_draws(
    at_work: tuple[asyncio.Runner, RunnerSession],
) -> None:
    loop, session = at_work

    @settings(max_examples=60)
    @given(st.sampled_from(Distribution), st.integers(1, 90), st.integers(1, 300), st.booleans(), words)
    def agree(kind: Distribution, rows: int, length: int, signed: bool, key: int) -> None:
        loop.run(_compare_redrawn(session, Turned(kind, (rows, length)), key, {RuleKind.DRAW}))
        problem = InBlocks(rows, 1 << length % 9, (23, 1 + length % 8), signed)
        loop.run(_compare_redrawn(session, problem, key, {RuleKind.BLOCKS}))

    agree()


def test_runner_and_judge_agree_on_every_bit_that_a_device_draws(
    at_work: tuple[asyncio.Runner, RunnerSession],
) -> None:
    loop, session = at_work
    sizes = st.one_of(st.integers(1, 70), st.integers(8190, 20000))
    spans = st.sampled_from([WHOLE_SPAN, SPANS["float16"]])
    factors = st.tuples(st.floats(1e-3, 1e3), st.sampled_from([np.inf, 40.0]))

    @settings(max_examples=60)
    @given(st.sampled_from(Distribution), sizes, factors, spans, st.sampled_from([None, *Form]), words)
    def agree(
        kind: Distribution, size: int, scaled_to: tuple[float, float], span: Span, form: Form | None, key: int
    ) -> None:
        loop.run(_compare_redrawn(session, Samples(kind, size, scaled_to, span, form), key, {RuleKind.DRAW}))

    agree()


async def _compare_redrawn(session: RunnerSession, problem: Anything, key: int, kinds: set[RuleKind]) -> None:
    checker = Checker(problem, RunSeed("agree"), session)
    judge = checker.judge(Case("any", {}), 0)
    drawn = judge.draw(checker.next_call())
    trial = replace(drawn, rules=redraw_rules(problem, drawn.inputs) or {})
    assert {rule.kind for name, rule in trial.rules.items() if name in "ab"} == kinds
    await checker.make(judge, trial)
    await session.redraw(key, key ^ 1)
    commitment = (await session.call(30, question=Question(key))).commitment
    made = judge.remade(trial, key, trial.call)
    outputs = judge.collect(session.channel, made)
    assert commitment == Commitment(key, 0, digest_of([(3, outputs["y"]), (4, outputs["z"])], key))
    assert not outputs["z"].view(np.uint8).any()
    assert outputs["y"].tobytes() == remade(outputs["y"], LinkRule(RuleKind.POISON), key ^ 1, 3).tobytes()
    for name in "ab":
        actual = judge._guarded(session.channel, trial.layout.regions[name], trial, {})
        assert actual.tobytes() == made.inputs[name].tobytes()


class Poisoned(Anything):
    """Two outputs of any types and sizes, both of them poisoned."""

    outputs: ClassVar[Mapping[str, Initial]] = {"y": Initial.POISON, "z": Initial.POISON}

    def __init__(self, types: tuple[str, str], sizes: tuple[int, int]) -> None:
        super().__init__(("float", "float"), (64, 64, 0), (MANTISSAS, MANTISSAS))
        self.signature = f"const float* a, const float* b, size_t n, {types[0]}* y, {types[1]}* z"
        self._shapes = {"y": (sizes[0],), "z": (sizes[1],)}

    def inputs(self, case: Case, rng: np.random.Generator) -> dict[str, Any]:
        return {name: sample(Distribution.NORMAL, (64,), rng) for name in "ab"} | {"n": 5}

    def output_shapes(self, case: Case) -> dict[str, tuple[int, ...]]:
        return self._shapes


def test_a_runner_tells_the_elements_that_an_excerpt_asks_for(at_work: tuple[asyncio.Runner, RunnerSession]) -> None:
    loop, session = at_work
    types = st.sampled_from(FLOATS + INTEGERS)
    sizes = st.one_of(st.integers(1, 70), st.integers(1000, 90000))

    @settings(max_examples=60)
    @given(st.tuples(types, types), st.tuples(sizes, sizes), words)
    def agree(types: tuple[str, str], sizes: tuple[int, int], key: int) -> None:
        loop.run(_compare_excerpts(session, Poisoned(types, sizes), key))

    agree()


async def _compare_excerpts(session: RunnerSession, problem: Poisoned, key: int) -> None:
    checker = Checker(problem, RunSeed("agree"), session)
    judge = checker.judge(Case("any", {}), 0)
    drawn = judge.draw(checker.next_call())
    trial = replace(drawn, rules=redraw_rules(problem, drawn.inputs) or {})
    await checker.load(judge, trial)
    question = Question(key, 3, judge.excerpt(trial, 3))
    times = await checker.make_redrawn(judge, question, 3)
    await session.store()
    outputs = judge.collect_outputs(session.channel, trial)
    assert times.commitment is not None
    assert isinstance(times.commitment.reported, dict)
    assert question.excerpt is not None
    for name, reported in times.commitment.reported.items():
        elements = outputs[name][question.excerpt.places[name].astype(np.int64)]
        assert len(elements) == EXCERPT_ELEMENTS
        assert elements.tobytes() == reported.tobytes()
        assert np.count_nonzero(reported.view(np.uint8)) > reported.nbytes / 2


def test_only_guards_are_loaded_and_what_an_answer_is_judged_by_is_copied_back_of_what_a_device_draws(
    at_work: tuple[asyncio.Runner, RunnerSession], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "ELEMENTS", 256)
    loop, session = at_work
    problem = find_problem("log-softmax")
    sizes = {"M": 2011, "N": 4001, "distribution": Distribution.NORMAL}
    checker = Checker(problem, RunSeed("needed"), session, program_of=lambda *_: b"", large=ALL_LARGE)
    judge = checker.judge(Case("large", sizes), 0)

    async def stored() -> None:
        loaded = await checker.load_undrawn(judge)
        assert loaded is not None
        await checker.make_redrawn(judge, checker.question(judge, loaded, 3), 3)
        excerpt = judge.excerpt(loaded, 3)
        needed, part = judge.needed(loaded, 3, excerpt), judge.part(loaded, 3)
        assert needed is not None
        assert part is not None
        ((name, region),) = loaded.layout.outputs.items()
        places = np.concatenate((part.places[name].reshape(-1), excerpt.places[name].astype(np.int64)), dtype=np.int64)
        # Nothing was loaded but guards, so all else is zeros.
        assert not judge.collect_outputs(session.channel, loaded, {})[name].any()
        await session.store(needed)
        some = judge.collect_outputs(session.channel, loaded, {}, needed)[name].reshape(-1)
        copied = judge.collect_outputs(session.channel, loaded, {})[name].reshape(-1)
        await session.store()
        whole = judge.collect_outputs(session.channel, loaded, {})[name].reshape(-1)
        assert some[places].tobytes() == whole[places].tobytes() == copied[places].tobytes()
        assert np.count_nonzero(copied != whole) > 0.5 * whole.size
        session.channel.write(region.end - 1, [b"\x5a"])
        with pytest.raises(Failure, match="memory beside `output` was written"):
            judge.collect_outputs(session.channel, loaded, {}, needed)

    loop.run(stored())


@given(st.sampled_from(Distribution), st.integers(1, 30000), words)
def test_drawn_values_have_spikes_and_the_spread_of_their_distribution(kind: Distribution, size: int, key: int) -> None:
    base = scaled(sample(kind, (size,), np.random.default_rng(0)), 2.0, 1000.0)
    recipe = recipe_of(base)
    assert isinstance(recipe, Recipe)
    made = remade(base, draw_rule(recipe), key, 0)
    assert made.dtype == np.float32
    assert np.abs(made).max() <= 1000.0
    assert made.min() >= 0 or kind is not Distribution.POSITIVE
    assert np.abs(made[-64:]).max() >= min(1000.0, recipe.spike / 2)
    if size > 2000:
        plain = {Distribution.UNIFORM: 0.5, Distribution.POSITIVE: 0.5, Distribution.WIDE: 1.0}.get(kind, 0.674)
        # The logarithms of wide values are uniform over many octaves to each side, so their median varies by octaves.
        octaves = 6 * recipe.octaves / size**0.5 if kind is Distribution.WIDE else 0.37
        assert abs(np.log2(np.median(np.abs(made)) / min(1000.0, plain * recipe.scale))) < octaves


@given(st.sampled_from(Distribution), st.integers(300, 2000), words)
def test_turned_rows_are_at_all_angles_to_the_others_whoever_draws_them(
    kind: Distribution, length: int, key: int
) -> None:
    drawn = Turned(kind, (400, length)).inputs(Case("any", {}), np.random.default_rng(key))
    made = {name: remade(drawn[name], draw_rule(drawn[name].recipe), key, at) for at, name in enumerate("ab")}
    for arrays in (drawn, made):
        a, b = (np.clip(arrays[name].astype(np.float64) / drawn["a"].recipe.scale, -4, 4) for name in "ab")
        cosines = (a * b).sum(axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
        assert cosines.min() < -0.8
        assert cosines.max() > 0.8
        assert np.histogram(cosines, 4, (-1, 1))[0].min() > 400 / 4 / 10


@given(st.sampled_from(SMALL_FLOATS), st.integers(0, 2**40), st.integers(1, 2**32), words)
def test_drawn_codes_and_integers_are_all_of_those_that_may_be(codes: Codes, low: int, count: int, key: int) -> None:
    rng = np.random.default_rng(key)
    drawn = some_codes(codes, (5000,), rng)
    made = remade(drawn, draw_rule(codes), key, 0)
    sign = 1 << (codes.bits - 1)
    every = {code for code in range(1 << codes.bits) if code & codes.mask == code and code != sign}
    every -= {codes.nan, codes.nan | sign} if codes.nan else set()
    for stored in (drawn, made):
        elements = np.concatenate([stored & 15, stored >> 4]) if codes.bits == 4 else stored
        assert set(elements.tolist()) == every
    numbers = whole_numbers(low, count, (200,), rng, np.uint64)
    made = remade(numbers, draw_rule(Whole(low, count)), key, 1)
    for values in (numbers, made):
        assert low <= values.min() <= values.max() < low + count
        assert count < 1000 or values.max() - values.min() > count / 2


@st.composite
def rules_and_bases(draw: st.DrawFn) -> tuple[LinkRule, np.ndarray[Any, Any]]:
    """Any rule, and an array for it to change."""
    size, dtype = draw(st.integers(1, 20000)), draw(st.sampled_from(["float32", "float16", "int32", "uint8", "uint64"]))
    drawn = sample(Distribution.NORMAL, (size,), np.random.default_rng(size))
    least, most = (-6e4, 6e4) if dtype.startswith("float") else (0, 255)
    base = np.clip(100 * drawn, least, most).astype(dtype)
    rules = [
        LinkRule(RuleKind.ROLL, draw(st.integers(1, size))),
        LinkRule(RuleKind.FIXED),
        LinkRule(RuleKind.INTEGERS, 3, 90),
    ]
    rules += [draw_rule(codes) for codes in SMALL_FLOATS] if dtype == "uint8" else []
    if dtype.startswith("float"):
        rules += [draw_rule(Blocks(draw(st.integers(1, 70)), 23, 1 + size % 8, signed)) for signed in (True, False)]
        exponent = 0x7F800000 if dtype == "float32" else 0x7C00
        rules += [LinkRule(kind, 0x3FF, exponent) for kind in (RuleKind.FLIP_BITS, RuleKind.SYMMETRIC_BITS)]
    if dtype == "float32":
        recipe = Recipe(draw(st.sampled_from(Distribution)), 10.0, 3.0, 64.0, draw(st.sampled_from([np.inf, 2.0])))
        rules += [draw_rule(replace(recipe, form=form)) for form in (None, *Form)]
        rules += [draw_rule(replace(recipe, turned_rows=draw(st.integers(1, 5000))))]
        rules += [LinkRule(RuleKind.WHOLES, -7 % 2**64, 90), LinkRule(RuleKind.WEIGHTS, 1, 19)]
    rule = draw(st.sampled_from(rules))
    is_matrix = rule.kind in {RuleKind.SYMMETRIC_BITS, RuleKind.WEIGHTS, RuleKind.DRAW}
    return rule, base[: isqrt(size) ** 2].reshape(isqrt(size), -1) if is_matrix else base


@given(rules_and_bases(), words)
def test_the_judge_makes_the_bits_that_the_arithmetic_says(
    given: tuple[LinkRule, np.ndarray[Any, Any]], key: int
) -> None:
    rule, base = given
    made = remade(base, rule, key, 1)
    assert made.dtype == base.dtype
    assert made.tobytes() == chain_in_numpy.remade(base, rule, key, 1).tobytes()
    assert digest_of([(0, made), (3, base)], key) == chain_in_numpy.digest_of([(0, made), (3, base)], key)


@given(rules_and_bases(), st.data(), words)
def test_elements_here_and_there_are_those_of_the_whole_array(
    given: tuple[LinkRule, np.ndarray[Any, Any]], data: st.DataObject, key: int
) -> None:
    rule, base = given
    # The last tile has a spike, and so has every block.
    least = max(0, base.size - data.draw(st.integers(1, base.size)))
    places = np.random.default_rng(key).integers(least, base.size, (3, 40))
    made = remade_at(base, rule, key, 1, places)
    assert made.tobytes() == remade(base, rule, key, 1).reshape(-1)[places].tobytes()
    assert made.shape == places.shape


def test_what_is_made_of_drawn_values_is_no_longer_drawn() -> None:
    drawn = sample(Distribution.NORMAL, (3, 4), np.random.default_rng(0))
    assert recipe_of(drawn)
    for made in (drawn + 1, drawn.copy(), drawn.T, drawn[1:], drawn.reshape(12), drawn.astype(np.float32)):
        assert recipe_of(made) is None
    with pytest.raises(ValueError, match="read-only"):
        drawn[0, 0] = 1


@given(st.lists(words, min_size=2, max_size=50, unique=True))
def test_mixing_keeps_words_apart(values: list[int]) -> None:
    assert len({mixed(value) for value in values}) == len(values)


def test_several_threads_find_the_digest_that_one_does() -> None:
    output = np.random.default_rng(1).integers(0, 256, (9 << 20) + 3, np.uint8)
    with threads_allowed(3):
        assert digest_of([(2, output)], 7) == chain_in_numpy.digest_of([(2, output)], 7)


@given(st.binary(min_size=1, max_size=2000), st.integers(0, 10**9), words)
def test_every_bit_of_an_output_counts(data: bytes, place: int, key: int) -> None:
    output = np.frombuffer(data, np.uint8)
    changed = output.copy()
    changed[place % len(data)] ^= 1 << (place % 8)
    assert digest_of([(0, output)], key) != digest_of([(0, changed)], key)
    assert digest_of([(0, output)], key) != digest_of([(1, output)], key)
    assert digest_of([(0, output)], key) != digest_of([(0, np.append(output, np.uint8(0)))], key)


@given(words, words)
def test_both_halves_of_a_digest_and_the_nonce_make_the_next_key(first: int, second: int) -> None:
    keys = {
        next_key(digest, nonce)
        for digest in ((first, second), (first ^ 1, second), (first, second ^ 1))
        for nonce in (1, 2)
    }
    assert len(keys) == 6


@given(st.integers(0, 2**32), words)
def test_new_mantissas_keep_sign_exponent_and_special_values(seed: int, key: int) -> None:
    drawn = np.random.default_rng(seed).standard_normal(200).astype(np.float32)
    drawn[:6] = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-45)
    made = remade(drawn, LinkRule(RuleKind.FLIP_BITS, (1 << 23) - 1, 0xFF << 23), key, 0)
    assert made[:6].tobytes() == drawn[:6].tobytes()
    assert np.array_equal(np.signbit(made), np.signbit(drawn))
    assert np.array_equal(np.frexp(made[6:])[1], np.frexp(drawn[6:])[1])
    assert np.count_nonzero(made[6:] != drawn[6:]) > 180


@given(st.integers(-(2**31), 2**31 - 2), st.integers(1, 2**31), words)
def test_integers_stay_in_their_range(low: int, count: int, key: int) -> None:
    high = min(low + count, 2**31 - 1)
    made = remade(np.zeros(300, np.int32), LinkRule(RuleKind.INTEGERS, low % 2**64, high - low), key, 0)
    assert low <= made.min()
    assert made.max() < high


@given(st.lists(st.integers(0, 100), min_size=2, max_size=60, unique=True), words)
def test_a_roll_moves_every_element_and_loses_none(values: list[int], key: int) -> None:
    base = np.array(values, np.int16)
    made = remade(base, LinkRule(RuleKind.ROLL, 1), key, 0)
    assert sorted(made) == sorted(base)
    assert not np.any(made == base)


@given(st.integers(2, 30), st.integers(1, 40), words)
def test_a_roll_by_blocks_keeps_each_block_together(blocks: int, block: int, key: int) -> None:
    base = np.arange(blocks * block, dtype=np.int32)
    made = remade(base, LinkRule(RuleKind.ROLL, block), key, 0).reshape(blocks, block)
    assert np.array_equal(made, made[:, :1] + np.arange(block))
    assert made[0, 0] % block == 0
    assert sorted(made[:, 0]) == list(range(0, blocks * block, block))
    assert made[0, 0] != 0


@given(st.integers(1, 40), words)
def test_a_symmetric_matrix_stays_symmetric_and_edges_stay_edges(side: int, key: int) -> None:
    drawn = np.random.default_rng(side).standard_normal((side, side)).astype(np.float32)
    drawn[drawn < 0] = 0
    base = np.maximum(drawn, drawn.T)
    bits = LinkRule(RuleKind.SYMMETRIC_BITS, 0x7FFFFF, 0x7F800000)
    for rule in (bits, LinkRule(RuleKind.WEIGHTS, 1, 19)):
        made = remade(base, rule, key, 0)
        assert np.array_equal(made, made.T)
        assert np.array_equal(made == 0, base == 0)
        assert side < 4 or not np.array_equal(made, base)
    weights_made = made[made != 0]
    assert np.all((weights_made >= 1) & (weights_made < 20) & (weights_made == np.floor(weights_made)))
