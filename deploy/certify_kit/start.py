"""Main program of a kit: unpacks itself once and certifies. Needs Python 3.11 to 3.13 and no network.

`python3 wavepool-certify.pyz --device rocm` takes all options of `wavepool certify`, and `--unpack FOLDER`, the target
folder (by default `wavepool-certify` in the working folder). Files are unpacked to a temporary folder until they are
complete. The file `unpacked` names the kit that they are from, or says that they are being replaced.
"""

from __future__ import annotations

import hashlib
import io
import lzma
import os
import platform
import shutil
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

PYTHONS = ((3, 11), (3, 13))
_OLDEST, _NEWEST = PYTHONS
_DONE, _PARTIAL = "unpacked", "unpacking-"
_PARTS = ("packages", "tree")
_BAD_USAGE, _NO_ROOM = 2, 3


def main(arguments: list[str]) -> int:
    """Unpacks the kit and becomes certify; returns an exit status only if that fails."""
    if not _OLDEST <= sys.version_info[:2] <= _NEWEST or (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        found = f"Python {platform.python_version()} on {platform.system()} {platform.machine()}"
        print(f"this kit needs Python 3.11 to 3.13 on x86-64 Linux, and this is {found}; run it with python3.12, say")
        return _BAD_USAGE
    folder = Path("wavepool-certify")
    if arguments[:1] == ["--unpack"] and len(arguments) > 1:
        folder, arguments = Path(arguments[1]), arguments[2:]
    folder = folder.absolute()
    try:
        if theirs := unpack(Path(sys.argv[0]), folder):
            print(f"{folder} has a `{theirs}` that is of no kit: name another folder with --unpack", file=sys.stderr)
            return _BAD_USAGE
        python = make_environment(folder)
    except (OSError, EOFError, tarfile.TarError, lzma.LZMAError, zipfile.BadZipFile) as error:
        print(f"the kit cannot be unpacked to {folder}: {error}; start it again when that is mended", file=sys.stderr)
        return _NO_ROOM
    # Keeps files of the working folder from being imported as our modules.
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    certify = [str(python), "-m", "services.executor.core", "certify", *arguments]
    return os.execve(python, certify, environment)  # noqa: S606 - our own program


def unpack(kit: Path, folder: Path) -> str:
    """Unpacks the kit's files unless they are there; replaces only the files of an older kit.

    Returns the name of an entry in the way that belongs to no kit; empty on success.
    """
    done = folder / _DONE
    with zipfile.ZipFile(kit) as archive:
        identity = archive.read("identity").decode()
        if done.is_file() and done.read_text() == identity:
            return ""
        payload = archive.read("payload.tar.xz")
    if hashlib.sha256(payload).hexdigest() != identity:
        raise zipfile.BadZipFile("the file is damaged, copy it again")
    theirs = [name for name in _PARTS if (folder / name).exists() and not done.exists()]
    if not theirs:
        print(f"unpacking to {folder}", file=sys.stderr, flush=True)
        _replace(folder, payload)
        done.write_text(identity)
    return "".join(theirs[:1])


def _replace(folder: Path, payload: bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{_PARTIAL}*"):
        shutil.rmtree(left)
    with tempfile.TemporaryDirectory(prefix=_PARTIAL, dir=folder) as partial:
        with tarfile.open(fileobj=io.BytesIO(payload), mode="r|xz") as files:
            files.extractall(partial, filter="data")
        (folder / _DONE).write_text("being replaced")
        for name in (*_PARTS, *(f"python{_OLDEST[0]}{minor}" for minor in range(_OLDEST[1], _NEWEST[1] + 1))):
            if (folder / name).exists():
                shutil.rmtree(folder / name)
        for new in Path(partial).iterdir():
            new.replace(folder / new.name)


def make_environment(folder: Path) -> Path:
    """Makes a virtual environment of this Python with the kit's packages and tree; returns its interpreter."""
    version = f"{sys.version_info.major}{sys.version_info.minor}"
    environment = folder / f"python{version}"
    python = environment / "bin" / "python"
    if not python.exists():
        # With pip, Debian and Ubuntu would need a separate package.
        venv.create(environment, symlinks=True, with_pip=False)
    [packages] = environment.glob("lib/python*/site-packages")
    shown = (folder / "packages" / "any", folder / "packages" / f"cp{version}", folder / "tree")
    (packages / "wavepool-kit.pth").write_text("".join(f"{path}\n" for path in shown))
    return python


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
