"""The cache of builds that tests share, from run to run and among all workers: `.cache/tests` of the checkout.

Only builds are kept, under the product's own keys, which cover everything that a build depends on: an edit of a source,
of the compiler's steps or of a header causes a new build. Nothing that runs is kept. WAVEPOOL_TEST_CACHE names another
folder, or keeps nothing if it is `off`; tests about compiling and caching have empty caches of their own.
"""

from __future__ import annotations

import os
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]
LIMIT_BYTES = 2 << 30
"""The product's own limit, which the processes that tests start use."""


def kept_folder(name: str) -> Path | None:
    """The cache folder of this name, made if it is missing; None if nothing is kept."""
    chosen = os.environ.get("WAVEPOOL_TEST_CACHE") or str(REPOSITORY / ".cache" / "tests")
    if chosen == "off":
        return None
    folder = Path(chosen).resolve() / name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
