"""Prints our own code's view of GPUs, read from the real management library, as JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from services.executor.devices.rocm.gpu import Management, load
from services.executor.devices.rocm.probe import read_facts

_, handles = load()
managements = [Management(index) for index in range(len(handles))]
found = {
    "library": sys.modules["amdsmi"].__file__,
    "gpus": [asdict(one.gpu()) for one in managements],
    "readings": [asdict(one.reading()) for one in managements],
    "versions": [asdict(one.versions()) for one in managements],
    "facts": asdict(read_facts()),
}
sys.stdout.write(json.dumps(found) + "\n")
