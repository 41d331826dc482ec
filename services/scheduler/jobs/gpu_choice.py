"""Checks which GPU types a job may run on: the wanted one, then the fallbacks that its user allows.

`gpu_types` are the types that can be asked for, the default one first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wavepool.scheduler.v1.scheduler_pb2 import SubmitJobRequest

from vocabulary.names import known_name, none_of

FIELD = "spec.gpu_type"
FALLBACKS_FIELD = "spec.fallback_gpu_types"
_ALIKE = 0.6
"""A name below this similarity is not a misspelling; the message then gives the default GPU type as the nearest."""


def in_our_names(request: SubmitJobRequest, names: Mapping[str, str]) -> SubmitJobRequest:
    """The request with our GPU types for those that `names` has, whatever their case; the others stay."""
    ours, changed = {theirs.casefold(): one for theirs, one in names.items()}, SubmitJobRequest()
    changed.CopyFrom(request)
    spec = changed.spec
    spec.gpu_type = ours.get(spec.gpu_type.strip().casefold(), spec.gpu_type)
    spec.fallback_gpu_types[:] = [ours.get(one.strip().casefold(), one) for one in spec.fallback_gpu_types]
    return changed


def wanted_gpu_type(asked: str, gpu_types: Sequence[str]) -> str:
    """The GPU type in its one spelling; the default if none is asked for, empty if it is unknown."""
    return known_name(asked, gpu_types) if asked.strip() else gpu_types[0]


def wrong_gpu_types(wanted: str, fallbacks: Sequence[str], gpu_types: Sequence[str]) -> list[tuple[str, str]]:
    """The faults of the choice: for each field, its name and the first fault with its fix."""
    first = wanted_gpu_type(wanted, gpu_types)
    wrong = [] if first else [(FIELD, none_of(wanted, gpu_types, _ALIKE))]
    taken = [first]
    for fallback in fallbacks:
        if fault := _fault(fallback, taken, gpu_types):
            return [*wrong, (FALLBACKS_FIELD, fault)]
        taken.append(known_name(fallback, gpu_types))
    return wrong


def _fault(fallback: str, taken: Sequence[str], gpu_types: Sequence[str]) -> str:
    name = known_name(fallback, gpu_types)
    if not name:
        return none_of(fallback, gpu_types, _ALIKE)
    if name not in taken:
        return ""
    fault = "is the GPU type that is wanted" if name == taken[0] else "is named twice"
    left = [one for one in gpu_types if one not in taken]
    return f"{name} {fault}; leave it out" + (f", or give another: {', '.join(left)}" if left else "")
