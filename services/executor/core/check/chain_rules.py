"""Chooses the inputs that change along a chain, and how: by the problem's own rules, or by the look of its inputs.

If the problem has no rule, floats get new mantissas. Signs, magnitudes, zeros and spikes stay in place, so positive,
sparse and triangular inputs remain what they are, and inputs with bounds remain within them. An array stays as it is if
its elements seem to hang together (sorted, symmetric, or small whole numbers). Integers stay too, because they are
mostly indices, unless there is nothing else to change: then they move along, which keeps their range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from problems.kit.chaining import FIXED, MANTISSAS, ROLL, ChainRule, Change
from problems.kit.definition import Problem
from problems.kit.distributions import Recipe, recipe_of
from problems.kit.domain import ANY, Domain
from problems.kit.signature import Initial, Parameter
from services.executor.core.call.layout import LinkRule, RuleKind
from services.executor.core.check.chain_arithmetic import draw_rule
from services.executor.core.check.chain_domains import bits_of, free_bits, widths, within_blocks

_FEWEST_ELEMENTS = 2
# Nearly all drawn floats use the lower half of their mantissa; of float8, half of them do.
_LEAST_SHARE_DRAWN = 0.25
_DRAWN = {RuleKind.DRAW, RuleKind.INTEGERS, RuleKind.CODES, RuleKind.BLOCKS}


class CannotChainError(Exception):
    """There is no chain for a problem's inputs; the message says why."""


def link_rules(problem: Problem, inputs: Mapping[str, Any]) -> dict[str, LinkRule]:
    """Returns the rule of every array, by name; raises CannotChainError."""
    arrays = [parameter for parameter in problem.parameters if parameter.pointer]
    if any(parameter.output and parameter.valid_on_host for parameter in arrays):
        raise CannotChainError("an output is in host memory")
    changes = _changes(problem, inputs)
    if all(rule.change is Change.FIXED for rule in changes.values()):
        raise CannotChainError("no input is known to be free to change; the problem can say so in `Problem.chain`")
    domains = problem.domains
    return {
        p.name: _output_rule(p) if p.output else _input_rule(p, changes[p.name], domains.get(p.name, ANY))
        for p in arrays
    }


def redraw_rules(problem: Problem, inputs: Mapping[str, Any]) -> dict[str, LinkRule] | None:
    """Returns the rules by which a device draws wholly new inputs like these; None unless it can draw every array.

    Anything that a case keeps from call to call could be worked on in one call for all others. So only shapes are kept.
    The host has to draw arrays that were made from others, and floats of another type than float32.
    """
    rules: dict[str, LinkRule] = {}
    for parameter in (one for one in problem.parameters if one.pointer):
        recipe = None if parameter.output else recipe_of(inputs.get(parameter.name))
        if parameter.valid_on_host:
            if parameter.output or not parameter.const:
                return None
            rules[parameter.name] = LinkRule(RuleKind.FIXED)
        elif parameter.output:
            rules[parameter.name] = _output_rule(parameter)
        elif recipe and (parameter.dtype == np.float32 or not isinstance(recipe, Recipe)):
            rules[parameter.name] = draw_rule(recipe)
        else:
            return None
    return rules if any(rule.kind in _DRAWN for rule in rules.values()) else None


def confined(problem: Problem, inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the inputs for the start of a chain: no value leaves its domain, whatever mantissas the rules give."""
    confined_inputs = dict(inputs)
    for name, domain in problem.domains.items():
        array = np.asarray(inputs[name])
        if _is_float(array.dtype) and (math.isfinite(domain.low) or math.isfinite(domain.high)):
            confined_inputs[name] = within_blocks(array, domain)
    return confined_inputs


def _changes(problem: Problem, inputs: Mapping[str, Any]) -> dict[str, ChainRule]:
    free = {
        parameter.name: np.asarray(inputs[parameter.name])
        for parameter in problem.parameters
        if parameter.pointer and not parameter.output
    }
    said = problem.chain
    on_host = {parameter.name for parameter in problem.parameters if parameter.valid_on_host}
    looks = {name: FIXED if name in on_host else _look(array) for name, array in free.items()}
    if not any(rule.change is Change.MANTISSAS for rule in looks.values()) and not said:
        looks |= {name: ROLL for name, array in free.items() if name not in on_host and _may_roll(array)}
    return {name: said.get(name, rule) for name, rule in looks.items()}


def _look(array: NDArray[Any]) -> ChainRule:
    if not _is_float(array.dtype) or array.size < _FEWEST_ELEMENTS or _hangs_together(array):
        return FIXED
    mantissa, _ = widths(array.dtype)
    lower_half = (1 << max(1, mantissa // 2)) - 1
    drawn = np.count_nonzero(bits_of(array) & bits_of(array).dtype.type(lower_half))
    return MANTISSAS if drawn >= _LEAST_SHARE_DRAWN * array.size else FIXED


def _may_roll(array: NDArray[Any]) -> bool:
    return array.size >= _FEWEST_ELEMENTS and not _is_float(array.dtype) and not _hangs_together(array)


def _hangs_together(array: NDArray[Any]) -> bool:
    """True if the array is sorted (or all its elements are alike), a symmetric matrix, or a pile of these."""
    flat = array.reshape(-1)
    with np.errstate(invalid="ignore"):
        if bool(np.all(flat[1:] >= flat[:-1])) or bool(np.all(flat[1:] <= flat[:-1])):
            return True
    side = math.isqrt(flat.size)
    if side > 1 and side * side == flat.size and _is_symmetric(flat.reshape(side, side)):
        return True
    is_pile = array.ndim > 1 and array.shape[-1] == array.shape[-2] > 1
    return is_pile and _is_symmetric(array)


def _is_symmetric(array: NDArray[Any]) -> bool:
    # Comparing a signalling NaN causes a warning.
    with np.errstate(invalid="ignore"):
        return np.array_equal(array, np.swapaxes(array, -1, -2))


def _input_rule(parameter: Parameter, rule: ChainRule, domain: Domain) -> LinkRule:
    if rule.change is Change.FIXED:
        return LinkRule(RuleKind.FIXED if parameter.const else RuleKind.COPY)
    if rule.change is Change.ROLL:
        return LinkRule(RuleKind.ROLL, rule.block)
    if rule.change is Change.INTEGERS:
        kind = RuleKind.WHOLES if parameter.dtype == np.float32 else RuleKind.INTEGERS
        return LinkRule(kind, rule.low % (1 << 64), rule.high - rule.low)
    if rule.change is Change.WEIGHTS:
        return LinkRule(RuleKind.WEIGHTS, rule.low, rule.high - rule.low)
    kind = RuleKind.SYMMETRIC_BITS if rule.change is Change.SYMMETRIC else RuleKind.FLIP_BITS
    mantissa, exponent = widths(parameter.dtype)
    free = (1 << free_bits(parameter.dtype, domain)) - 1
    mask = 1 << (mantissa + exponent) if rule.change is Change.SIGNS else free
    return LinkRule(kind, mask, ((1 << exponent) - 1) << mantissa)


def _output_rule(parameter: Parameter) -> LinkRule:
    return LinkRule(RuleKind.ZERO if parameter.initial is Initial.ZERO else RuleKind.POISON)


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "fV"
