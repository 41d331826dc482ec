"""How wrong outputs differ from the reference: the first elements, the values around them, and a coarse map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from wavepool.executor.v1.run_event_pb2 import ErrorMap, ErrorWindow, WrongAnswer

from gateway.words.json_values import worded

MOST_WINDOW_CELLS = 16 * 16
MOST_MAP_CELLS = 32 * 32
MOST_DIMENSIONS = 16
MOST_NAME = 200
"""Characters of an output's name."""
_Value = TypeVar("_Value")


def debug_info(wrong: WrongAnswer, message: str) -> dict[str, Any]:
    """The differences of the outputs; the first mismatches are keyed by their index, such as "(3, 17)".

    `window` and `map` are null if they are missing, or not of the documented size: together they have at most 48 KiB.
    """
    differences: dict[str, dict[str, Any]] = {}
    for mismatch in wrong.first_mismatches:
        key = _index_key(mismatch.index)
        unique = key if key not in differences else f"{key} {mismatch.output}"
        differences[unique] = {
            "expected": mismatch.expected,
            "actual": mismatch.actual,
            "diff": mismatch.difference,
            "output": mismatch.output,
        }
    return {
        "max_difference": wrong.max_difference,
        "mean_difference": wrong.mean_difference,
        "mismatch_count": wrong.mismatch_count,
        "element_count": wrong.element_count,
        "sample_differences": differences,
        "window": _window(wrong.window) if _is_whole_window(wrong.window) else None,
        "map": _map(wrong.error_map) if _is_whole_map(wrong.error_map) else None,
        "message": message,
    }


def _index_key(index: Sequence[int]) -> str:
    return f"({', '.join(str(place) for place in index)})"


def _is_whole_window(window: ErrorWindow) -> bool:
    lists = (window.expected, window.actual, window.wrong, window.compared)
    is_small = len(window.origin) <= MOST_DIMENSIONS
    return is_small and _is_whole(window.rows, window.columns, MOST_WINDOW_CELLS, lists)


def _is_whole_map(one: ErrorMap) -> bool:
    return _is_whole(one.rows, one.columns, MOST_MAP_CELLS, (one.wrong, one.compared))


def _is_whole(rows: int, columns: int, most: int, lists: Sequence[Sequence[object]]) -> bool:
    return rows > 0 < columns and rows * columns <= most and all(len(one) == rows * columns for one in lists)


def _window(window: ErrorWindow) -> dict[str, Any]:
    return {
        "output": window.output[:MOST_NAME],
        "origin": list(window.origin),
        "expected": _rows(window.expected, window, worded),
        "actual": _rows(window.actual, window, worded),
        "wrong": _rows(window.wrong, window, bool),
    }


def _rows(values: Sequence[_Value], window: ErrorWindow, shown: Callable[[_Value], object]) -> list[list[object]]:
    """Rows of cells; null for those that were not compared."""
    cells = [shown(value) if known else None for value, known in zip(values, window.compared, strict=True)]
    return _cut(cells, window.columns)


def _map(one: ErrorMap) -> dict[str, Any]:
    shares = [wrong / compared if compared else None for wrong, compared in zip(one.wrong, one.compared, strict=True)]
    return {
        "output": one.output[:MOST_NAME],
        "output_rows": one.output_rows,
        "output_columns": one.output_columns,
        "cell_rows": one.cell_rows,
        "cell_columns": one.cell_columns,
        "shares": _cut(shares, one.columns),
    }


def _cut(cells: list[Any], columns: int) -> list[list[Any]]:
    return [cells[at : at + columns] for at in range(0, len(cells), columns)]
