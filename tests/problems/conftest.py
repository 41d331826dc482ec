from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from problems.library.catalogue import ON_SIZES, Catalogue

PROBLEM = """
import numpy as np

from problems.kit.definition import Difficulty
from problems.families.elementwise import Elementwise
from problems.kit.rounding import EXACT


class Twice(Elementwise):
    slug = "twice"
    title = "Twice"
    difficulty = Difficulty.EASY
    tolerance = EXACT
    flops_per_element = 1.0

    def apply(self, x, case):
        return 2.0 * x


PROBLEM = Twice()
"""
SOURCE = 'extern "C" void solution(const float* input, float* output, size_t n, size_t m) {}\n'
STATEMENT = f"""# Twice

```cpp
extern "C" void solution(const float* input, float* output, size_t n, size_t m);
```

- `input`: the numbers
- `output`: twice the numbers
- `n`: rows
- `m`: columns

`output` holds random bits before every call: write every element.

{ON_SIZES}

## Tolerance

None.

## Example
"""


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return Catalogue.load()


@pytest.fixture
def write_problem(tmp_path: Path) -> Callable[..., Path]:
    """Writes a good problem into a catalogue folder of its own; arguments replace its files, None leaves one out."""

    def write(slug: str = "twice", **changes: str | None) -> Path:
        folder = tmp_path / "catalogue" / slug
        folder.mkdir(parents=True)
        files = {"problem": PROBLEM, "statement": STATEMENT, "starter": SOURCE, "solution": f"// done\n{SOURCE}"}
        suffixes = {"problem": ".py", "statement": ".md", "starter": ".hip", "solution": ".hip"}
        for name, text in {**files, **changes}.items():
            if text is not None:
                (folder / (name + suffixes[name])).write_text(text, "utf-8")
        return folder

    return write
