"""`python -m services.executor.core.problem_host`: the torch that problem definitions run with, or what is missing."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from services.executor.core.problem_host.interpreter import TorchMissingError, torch_python


def main() -> int:
    """0 where definitions can be evaluated."""
    named = os.environ.get("EXECUTOR_TORCH_PYTHON")
    try:
        python = torch_python(Path(named) if named else None)
    except TorchMissingError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"torch {python.version} of {python.program}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
