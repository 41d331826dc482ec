"""What a kit does when it is run: unpacks itself beside, once, and certifies. Needs Python 3.11 to 3.13 and no network.

`python3 wavepool-certify.pyz --device rocm` takes all options of `wavepool certify`, and `--unpack FOLDER`: where to
unpack to, `wavepool-certify` in the working folder by default.
"""

from __future__ import annotations

import io
import os
import platform
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

PYTHONS = ((3, 11), (3, 13))
_OLDEST, _NEWEST = PYTHONS
_DONE = "unpacked"
_BAD_USAGE = 2


def main(arguments: list[str]) -> int:
    """Unpack, and become certify; answers only if that cannot be."""
    if not _OLDEST <= sys.version_info[:2] <= _NEWEST or (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        found = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
        print(f"this kit needs Python 3.11 to 3.13 on x86-64 Linux, and this is {found}; run it with python3.12, say")
        return _BAD_USAGE
    folder = Path("wavepool-certify")
    if arguments[:1] == ["--unpack"] and len(arguments) > 1:
        folder, arguments = Path(arguments[1]), arguments[2:]
    folder = folder.absolute()
    unpack(Path(sys.argv[0]), folder)
    python = make_environment(folder)
    # No file of the working folder is taken for a module of ours.
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    certify = [str(python), "-m", "services.executor.core", "certify", *arguments]
    return os.execve(python, certify, environment)  # noqa: S606 - our own program


def unpack(kit: Path, folder: Path) -> None:
    """All of the kit's files, unless they are there."""
    with zipfile.ZipFile(kit) as archive:
        identity = archive.read("identity").decode()
        done = folder / _DONE
        if done.is_file() and done.read_text() == identity:
            return
        print(f"unpacking to {folder}", file=sys.stderr)
        with (
            archive.open("payload.tar.xz") as payload,
            tarfile.open(fileobj=io.BufferedReader(payload), mode="r|xz") as files,
        ):
            files.extractall(folder, filter="data")
        done.write_text(identity)


def make_environment(folder: Path) -> Path:
    """A virtual environment of this Python with the kit's packages and tree; answers its interpreter."""
    version = f"{sys.version_info.major}{sys.version_info.minor}"
    environment = folder / f"python{version}"
    python = environment / "bin" / "python"
    if not python.exists():
        # pip would take a package that Debian and Ubuntu keep apart.
        venv.create(environment, symlinks=True, with_pip=False)
    [packages] = environment.glob("lib/python*/site-packages")
    shown = (folder / "packages" / "any", folder / "packages" / f"cp{version}", folder / "tree")
    (packages / "wavepool-kit.pth").write_text("".join(f"{path}\n" for path in shown))
    return python


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
