"""Builds an image in a sandbox: `build.py BASES`; BASES is JSON, names of images by the folders that they are in.

buildah builds. What it may take as a base is put into its own store first, and it may fetch nothing else. What it says
goes to stdout. The image is left in the folder `result`. Exit status 1 is the Dockerfile's fault. It needs only
Python's standard library, and runs as root of a user namespace that owns nothing outside of `/build`.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

BUILD = Path("/build")
_NAME = "localhost/wavepool/built:1"


def run(*words: str) -> None:
    """Run a command, and end if it fails."""
    if subprocess.run(words, stdout=subprocess.DEVNULL, check=False).returncode:  # noqa: S603
        sys.exit(2)


def main() -> None:
    """Unpack what is copied from, give buildah the bases, build, and leave the image."""
    bases: dict[str, str] = json.loads(sys.argv[1])
    source = BUILD / "source"
    source.mkdir()
    unpack = ["tar", "--extract", "--gzip", "--no-same-owner", f"--directory={source}", "--file=/work/context.tar.gz"]
    if subprocess.run(unpack, check=False).returncode:  # noqa: S603
        sys.exit(1)
    context = source / "context"
    context.mkdir(exist_ok=True)
    for folder, name in bases.items():
        # Not `buildah pull`: that of Debian 13 loses the image that it pulls from a folder.
        copy = ("skopeo", "--insecure-policy", "copy", "--quiet")
        run(*copy, f"oci:/work/bases/{folder}:image", f"containers-storage:{name}")
    words = ["--pull=never", "--isolation=chroot", "--network=host", "--http-proxy=false", "--format=oci", "--no-cache"]
    command = ["buildah", "build", *words, "--tag", _NAME, "--file", str(source / "Dockerfile"), str(context)]
    with subprocess.Popen(command, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL) as building:  # noqa: S603
        if building.wait():
            sys.exit(1)
    run("buildah", "push", "--quiet", "--disable-compression", _NAME, f"oci:{BUILD}/result:image")


if __name__ == "__main__":
    os.umask(0o022)
    main()
