"""Where tests keep what they compiled, from run to run and for all workers: `.cache/tests` of the checkout.

Only builds are kept, under the product's own keys, which hold everything that a build follows from: an edit of a
source, of the compiler's steps or of a header makes anew. Nothing that runs is kept. WAVEPOOL_TEST_CACHE names another
folder, or keeps nothing where it is `off`; tests about compiling and keeping have empty caches of their own.
"""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
LIMIT_BYTES = 2 << 30
"""The product's own limit, which the processes have that tests start."""


def kept_folder(name: str) -> Path | None:
    """The folder of that name, made where it is missing; None where nothing is to be kept."""
    chosen = os.environ.get("WAVEPOOL_TEST_CACHE") or str(REPOSITORY / ".cache" / "tests")
    if chosen == "off":
        return None
    folder = Path(chosen).resolve() / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
