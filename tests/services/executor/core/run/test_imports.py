from __future__ import annotations

import subprocess
import sys

import pytest

MODULES = ("services.executor.core.__main__", "submissions.checks", "submissions.modes")


@pytest.mark.parametrize("module", MODULES)
def test_the_core_needs_messages_and_no_grpc(module: str) -> None:
    program = f"import sys, {module}; print(sorted({{'grpc', 'sqlalchemy'}} & set(sys.modules)))"
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout == "[]\n"
