"""Counts how hard it is to find one's way in the tree; `docs/measurements.md` compares the counts over time.

`python benchmarks/tree_shape.py` prints one table of the files that git tracks. It needs no service and no network.
"""

from __future__ import annotations

import ast
import re
import subprocess
from collections import Counter
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from statistics import median, quantiles

ROOT = Path(__file__).parents[1]
FIELDS = ("timing_mode", "launch_plan")
"""Fields of a submission that travel from the request to the verdict."""
CODE = {".cpp", ".css", ".h", ".hip", ".hpp", ".html", ".js", ".proto", ".py", ".sh"}
DEVICES_WITH_IR = ("hipcpu/", "services/executor/devices/gfx942/")
"""Folders that read LLVM's intermediate representation and assembly."""
WAYS = {"in (Submission)": "submission_pb2", "back (RunEvent)": "run_event_pb2"}
"""The two directions, and the module of the message that travels each way."""
WORDS = ("where", "if", "what")
"""Words of docstrings: "where" and "what" are frequent in calques, "if" in plain English."""
_IMPORT = re.compile(r"^\s*(?:from \S+ )?import |^from ", re.MULTILINE)
_PATTERN = re.compile(r"\bre\.(?:compile|match|fullmatch|search|sub|subn|findall|finditer|split)\(")
_RULES = re.compile(r"^\[+tool\.importlinter.*?(?=^\[tool\.(?!importlinter)|\Z)", re.MULTILINE | re.DOTALL)


def main() -> None:
    """Prints the table."""
    tracked = [PurePosixPath(line) for line in _git("ls-files").splitlines()]
    texts = {path: _text(path) for path in tracked if path.suffix in CODE}
    ours = {path: text for path, text in texts.items() if path.parts[0] != "tests"}
    python = {path: text for path, text in ours.items() if path.suffix == ".py"}
    lines = sum(text.count("\n") for text in ours.values())
    sizes = sorted(text.count("\n") for text in python.values())
    folder, entries = _longest_listing(tracked)
    rules = "".join(_RULES.findall((ROOT / "pyproject.toml").read_text("utf-8"))).count("\n")
    imports = sum(len(_IMPORT.findall(text)) for text in python.values())
    reading_ir = [text for path, text in python.items() if str(path).startswith(DEVICES_WITH_IR)]
    rows = [(f"files outside tests that name {field}", str(_naming(ours, field))) for field in FIELDS]
    rows += [(f"files outside tests on the way {way}", str(_naming(ours, module))) for way, module in WAYS.items()]
    rows += [
        ("longest listing of a folder, the problems and tests left out", f"{entries} ({folder})"),
        ("lines with an import, of all lines of Python outside tests", f"{imports / sum(sizes):.1%}"),
        ("lines of import rules in pyproject.toml", str(rules)),
        ("lines of code outside tests; of Python", f"{lines:,}; {sum(sizes):,}"),
        ("lines of a Python file: median, 90th percentile, most", f"{median(sizes):g}, {_tenth(sizes):g}, {sizes[-1]}"),
        (f"of 1,000 words of docstrings {', '.join(WORDS)}", ", ".join(_shares(python.values()))),
        ("regular expressions where IR and assembly are read", str(sum(len(_PATTERN.findall(t)) for t in reading_ir))),
    ]
    width = max(len(name) for name, _ in rows)
    for name, value in rows:
        print(f"{name:{width}}  {value}")


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout  # noqa: S607


def _text(path: PurePosixPath) -> str:
    return (ROOT / path).read_text("utf-8", errors="replace")


def _naming(texts: dict[PurePosixPath, str], field: str) -> int:
    word = re.compile(rf"\b{field}\b")
    return sum(1 for text in texts.values() if word.search(text))


def _longest_listing(tracked: list[PurePosixPath]) -> tuple[PurePosixPath, int]:
    entries = {entry for path in tracked for entry in (path, *path.parents) if entry.parts}
    listings = Counter(entry.parent for entry in entries if entry.parts[0] not in {"problems", "tests"})
    return listings.most_common(1)[0]


def _shares(texts: Iterable[str]) -> list[str]:
    """How often each of WORDS stands in 1,000 words of docstrings, those of constants and fields too."""
    counts: Counter[str] = Counter()
    for text in texts:
        for node in ast.walk(ast.parse(text)):
            text_of = node.value.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) else None
            if isinstance(text_of, str):
                counts.update(re.findall(r"[a-z]+", text_of.lower()))
    return [f"{1000 * counts[word] / counts.total():.1f}" for word in WORDS]


def _tenth(sizes: list[int]) -> float:
    return quantiles(sizes, n=10)[-1]


if __name__ == "__main__":
    main()
