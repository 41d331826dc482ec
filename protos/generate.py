"""Generate Python code and type stubs from every proto below this folder; the build hook of the package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PROTOS = Path(__file__).resolve().parent


def generate() -> None:
    """Run protoc with the message, gRPC and type-stub plugins, in the environment that runs this file.

    Raises subprocess.CalledProcessError when a proto does not compile; protoc has then said why on stderr.
    """
    sources = sorted(str(path.relative_to(PROTOS)) for path in PROTOS.glob("wavepool/**/*.proto"))
    scripts = Path(sys.executable).parent
    plugins = [f"--plugin=protoc-gen-{name}={scripts / f'protoc-gen-{name}'}" for name in ("mypy", "mypy_grpc")]
    outputs = [f"--{kind}_out=." for kind in ("python", "grpc_python", "mypy", "mypy_grpc")]
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I.", *plugins, *outputs, *sources]
    subprocess.run(command, cwd=PROTOS, check=True)


class GenerateHook(BuildHookInterface[Any]):
    """Generates before every build, editable installs included."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling; `version` is "standard" or "editable"."""
        del version, build_data
        generate()


if __name__ == "__main__":
    generate()
