"""Calls that affect the whole process: each test has a process of its own."""

from __future__ import annotations

import subprocess
import sys

# Arrays of 1 MiB, of which four live at a time, as numpy's expressions make and free them: 24,000 faults without it.
FAULTS_OF_EXPRESSIONS = """
import resource
import numpy as np
from services.executor.sandboxes.kernel_calls import FREED_BYTES_KEPT, keep_freed_memory
keep_freed_memory(FREED_BYTES_KEPT)
def make():
    for _ in range(50):
        x = np.ones(1 << 17)
        x = (x + 1) * (x + 2) - (x + 3)
make()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
make()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def test_memory_that_was_freed_is_used_again_without_a_fault_for_each_page() -> None:
    faults = subprocess.run([sys.executable, "-c", FAULTS_OF_EXPRESSIONS], check=True, capture_output=True, text=True)
    assert int(faults.stdout) < 1000
