"""`python -m services.executor.core.problem_host`: shows the torch of problem definitions, or why there is none."""

from __future__ import annotations

import sys

from services.executor.core.problem_host.interpreter import TorchMissingError, named_python, torch_python


def main() -> int:
    """Print the torch that was found; the exit status is 0 if definitions can be evaluated."""
    try:
        python = torch_python(named_python())
    except TorchMissingError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"torch {python.version} of {python.program}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
