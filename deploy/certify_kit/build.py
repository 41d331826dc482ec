"""Makes one file that certifies a machine without a network: `make certify-kit`.

It contains the tree that `wavepool certify` needs, the core's packages as in uv.lock for Python 3.11 to 3.13, and the
one compiled part, which judges load. It contains no compiler: the ROCm or CUDA of the machine compiles kernels.
Packages are unpacked, and files that are the same in several of them are stored once: in one stream they take a third
of the size of their wheels.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import lzma
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from hipcpu.prepare import prepare
from services.executor.core.check.chain_arithmetic import BROUGHT

ROOT = Path(__file__).parents[2]
MOST_MIB = 60
_PACKAGES = (
    "numpy",
    "scipy",
    "ml-dtypes",
    "psutil",
    "pyelftools",
    "pydantic",
    "pydantic-settings",
    "protobuf",
    "amdsmi",
    "nvidia-ml-py",
)
"""Packages that problems, submissions, the core, its devices and sandboxes import. Their dependencies are added."""
_PYTHONS = ("cp311", "cp312", "cp313")
_RECORDER = ("ziglang", "llvmlite")
"""Left out because of their size; `recorder.txt` has their versions."""
_TREE = (
    "LICENSE",
    "docs/certify.md",
    "hipcpu",
    "problems",
    "servicekit",
    "vocabulary",
    "services/__init__.py",
    "services/executor",
    "submissions",
    "tests/__init__.py",
    "tests/attacks",
    "tests/honest",
)
_DICTIONARY_BYTES = 128 << 20
_MANYLINUX = ("2_28", "2_27", "2_17", "2014", "2_12", "2010")


def main() -> int:
    """Makes the kit; the exit status is 1 if it is too large."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=ROOT / "dist" / "wavepool-certify.pyz")
    parser.add_argument("--wheels", type=Path, default=ROOT / ".cache" / "certify-kit", help="where wheels are kept")
    parser.add_argument("--preset", type=int, default=6, help="of xz: 0 is quick, 9 small (default 6)")
    chosen = parser.parse_args()
    payload = _compressed(_files(_wheels(chosen.wheels)), chosen.preset)
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    _write_kit(chosen.output, payload)
    mib = chosen.output.stat().st_size / (1 << 20)
    print(f"{chosen.output}: {mib:.1f} MiB")
    if mib > MOST_MIB:
        print(f"that is more than {MOST_MIB} MiB", file=sys.stderr)
    return int(mib > MOST_MIB)


def _locked() -> dict[str, dict[str, Any]]:
    return {package["name"]: package for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]}


def _closure(locked: dict[str, dict[str, Any]]) -> list[str]:
    """The packages with all their dependencies on Linux, for any of the Pythons."""
    wanted, found = list(_PACKAGES), set[str]()
    while wanted:
        name = wanted.pop()
        if name not in found:
            found.add(name)
            wanted += [one["name"] for one in locked[name].get("dependencies", []) if "marker" not in one]
    return sorted(found)


def _wheels(folder: Path) -> dict[str, list[Path]]:
    """Wheels by `any` or Python, downloaded by pip if they are not in the folder; checks the lock's hashes."""
    locked = _locked()
    names = _closure(locked)
    chosen: dict[str, dict[str, str]] = {kind: {} for kind in ("any", *_PYTHONS)}
    for name in names:
        wheels = {wheel["url"].rpartition("/")[2]: wheel["hash"] for wheel in locked[name]["wheels"]}
        fitting = {file: kind for file in wheels if (kind := _kind_of(file))}
        # Like pip, prefer a compiled wheel to one that runs anywhere.
        compiled = {file: kind for file, kind in fitting.items() if not file.endswith("-any.whl")}
        for file, kind in (compiled or fitting).items():
            chosen[kind][file] = wheels[file].removeprefix("sha256:")
    missing = [
        kind
        for kind, files in chosen.items()
        if not all(_is_there(folder / file, digest) for file, digest in files.items())
    ]
    for python in _PYTHONS if "any" in missing else [kind for kind in missing if kind != "any"]:
        _download([locked[name] for name in names], python, folder)
    for files in chosen.values():
        for file, digest in files.items():
            if not _is_there(folder / file, digest):
                raise SystemExit(f"{file} could not be downloaded, or is not what uv.lock says")
    return {kind: [folder / file for file in sorted(files)] for kind, files in chosen.items()}


def _kind_of(file: str) -> str:
    """The group of a wheel, `any` or a Python; empty if it is for another machine or Python."""
    *_, python, abi, platform = file.removesuffix(".whl").split("-")
    if platform == "any":
        return "any"
    if "manylinux" not in platform or not platform.endswith("x86_64"):
        return ""
    return "any" if abi == "abi3" else python if python == abi and python in _PYTHONS else ""


def _is_there(path: Path, digest: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest


def _download(packages: list[dict[str, Any]], python: str, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        " ".join([f"{one['name']}=={one['version']}", *(f"--hash={wheel['hash']}" for wheel in one["wheels"])])
        for one in packages
    ]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as requirements:
        requirements.write("\n".join(lines) + "\n")
        requirements.flush()
        command = [
            str(ROOT / ".cache/bootstrap/bin/python"),
            "-m",
            "pip",
            "download",
            "--quiet",
            "--disable-pip-version-check",
        ]
        command += ["--dest", str(folder), "--only-binary=:all:", "--no-deps", "--require-hashes"]
        command += ["--python-version", python.removeprefix("cp")]
        command += [
            word
            for name in _MANYLINUX
            for word in ("--platform", f"manylinux{name if '_' not in name else f'_{name}'}_x86_64")
        ]
        subprocess.run([*command, "--requirement", requirements.name], check=True)


def _files(wheels: dict[str, list[Path]]) -> dict[str, bytes]:
    """All files of the kit, by path."""
    found: dict[str, bytes] = {}
    for kind, paths in wheels.items():
        for path in paths:
            with zipfile.ZipFile(path) as archive:
                for name in archive.namelist():
                    if not name.endswith("/") and "tests" not in PurePosixPath(name).parts:
                        found[f"packages/{kind}/{name}"] = archive.read(name)
    listed = subprocess.run(["git", "ls-files", "-z", *_TREE], cwd=ROOT, capture_output=True, check=True).stdout
    for name in filter(None, listed.decode().split("\0")):
        found[f"tree/{name}"] = (ROOT / name).read_bytes()
    for path in (ROOT / "protos").glob("wavepool/*/v1/*_pb2.py"):
        found[f"tree/{path.relative_to(ROOT / 'protos')}"] = path.read_bytes()
    locked = _locked()
    found["recorder.txt"] = "".join(f"{name}=={locked[name]['version']}\n" for name in _RECORDER).encode()
    found[f"tree/{BROUGHT.relative_to(ROOT)}"] = prepare().judge_library.read_bytes()
    return found | _distribution()


def _distribution() -> dict[str, bytes]:
    """The metadata of an installed package, because devices are found by entry points."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in entries.items())
        for group, entries in project["entry-points"].items()
        if group == "wavepool.devices"
    )
    folder = f"tree/{project['name']}-{project['version']}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    return {f"{folder}/METADATA": metadata.encode(), f"{folder}/entry_points.txt": points.encode()}


def _compressed(files: dict[str, bytes], preset: int) -> bytes:
    """One compressed stream, in which files of the same name are neighbours, because they are much alike."""
    filters = [{"id": lzma.FILTER_X86}, {"id": lzma.FILTER_LZMA2, "preset": preset, "dict_size": _DICTIONARY_BYTES}]
    packed, first_of = io.BytesIO(), dict[bytes, str]()
    with lzma.open(packed, "wb", filters=filters) as stream, tarfile.open(fileobj=stream, mode="w|") as archive:
        for name in sorted(files, key=lambda name: (PurePosixPath(name).suffix, PurePosixPath(name).name, name)):
            entry = tarfile.TarInfo(name)
            entry.mode = 0o644
            first = first_of.setdefault(hashlib.sha256(files[name]).digest(), name)
            if first != name:
                entry.type, entry.linkname = tarfile.LNKTYPE, first
                archive.addfile(entry)
                continue
            entry.size = len(files[name])
            archive.addfile(entry, io.BytesIO(files[name]))
    return packed.getvalue()


def _write_kit(output: Path, payload: bytes) -> None:
    partial = output.with_name(f"{output.name}.partial")
    with partial.open("wb") as file:
        file.write(b"#!/usr/bin/env python3\n")
        with zipfile.ZipFile(file, "a") as archive:
            archive.write(Path(__file__).with_name("start.py"), "__main__.py")
            archive.writestr("identity", hashlib.sha256(payload).hexdigest())
            archive.writestr("payload.tar.xz", payload)
    partial.chmod(0o755)
    partial.replace(output)


if __name__ == "__main__":
    sys.exit(main())
