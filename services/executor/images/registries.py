"""Registries of images, as skopeo reads them. Only those that the operator has listed are spoken to."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from services.executor.images.errors import ImageError, ImageUnavailableError
from vocabulary.image_references import ImageReference, wrong_registry

SETTING = "EXECUTOR_IMAGE_REGISTRIES"
NO_IMAGES = f"this machine takes no images ({SETTING})"
_SECONDS = 60.0
"""Longest answer of a registry that is asked for a manifest."""
_MOST_MANIFEST_BYTES = 4 << 20
_LAST_WORDS = 300
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE")
_MESSAGE = re.compile(r'msg="((?:[^"\\]|\\.)*)"')
# What skopeo says if the registry has no such image, or does not give it out.
_NONE = re.compile(r"manifest unknown|name unknown|not found|status 404|StatusCode: 404", re.IGNORECASE)
_DENIED = re.compile(r"unauthorized|denied|authentication required|status 40[13]|StatusCode: 40[13]", re.IGNORECASE)


@dataclass(frozen=True)
class Registries:
    """Those that images may come from. Those that are `insecure` are spoken to without TLS; `auth_file` is skopeo's."""

    secure: tuple[str, ...] = ()
    insecure: tuple[str, ...] = ()
    auth_file: Path | None = None

    @property
    def all(self) -> tuple[str, ...]:
        """All of them, each once."""
        return tuple(dict.fromkeys((*self.secure, *self.insecure)))

    def check(self, reference: ImageReference) -> None:
        """Raise ImageError if no image may come from there."""
        if not self.all:
            raise ImageError(NO_IMAGES)
        if reference.registry not in self.all:
            known = ", ".join(self.all)
            raise ImageError(f"images may come from {known}, and not from {reference.registry} ({SETTING})")

    async def raw_manifest(self, reference: ImageReference, folder: Path) -> bytes:
        """Return the manifest, or the list of them; raises ImageError, ImageUnavailableError."""
        try:
            async with asyncio.timeout(_SECONDS):
                return await self.run(reference, folder, ["inspect", "--raw"], [], file_bytes=_MOST_MANIFEST_BYTES)
        except TimeoutError as error:
            raise ImageUnavailableError(f"{reference.registry} did not answer in {_SECONDS:g} s") from error

    async def copy(self, reference: ImageReference, folder: Path, most_bytes: int) -> None:
        """Copy the image into `folder/layout`, as `image`; raises ImageError, ImageUnavailableError."""
        target = f"oci:{folder / 'layout'}:image"
        await self.run(reference, folder, ["copy", "--quiet", "--format=oci"], [target], file_bytes=most_bytes)

    async def run(
        self, reference: ImageReference, folder: Path, words: Sequence[str], target: Sequence[str], file_bytes: int
    ) -> bytes:
        """Run skopeo on an image, with `folder` for its files, none of them above `file_bytes`; return its output.

        It is killed if the call is cancelled. Raises ImageError, ImageUnavailableError.
        """
        self.check(reference)
        is_copy = bool(target)
        tls = f"--{'src-' if is_copy else ''}tls-verify={'false' if reference.registry in self.insecure else 'true'}"
        auth = [f"--{'src-' if is_copy else ''}authfile={self.auth_file}"] if self.auth_file else []
        process = await asyncio.create_subprocess_exec(
            # It ends with us, too, if we are killed.
            *("/usr/bin/setpriv", "--pdeathsig=KILL", "/usr/bin/prlimit", f"--fsize={file_bytes}", "--core=0", "--"),
            *(cast("str", shutil.which("skopeo")), "--insecure-policy", f"--tmpdir={folder}"),
            *("--override-os=linux", "--override-arch=amd64"),
            *(*words, tls, *auth, f"docker://{reference.address}", *target),
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=_environment(folder),
        )
        try:
            output, errors = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        if process.returncode:
            raise failure(errors.decode(errors="replace"), reference)
        if not is_copy and len(output) > _MOST_MANIFEST_BYTES:
            raise ImageError(f"its manifest has {len(output)} bytes")
        return output


def registry_setting(value: str) -> str:
    """Return a registry of a setting, in lower case; raises ValueError."""
    if fault := wrong_registry(value):
        raise ValueError(fault)
    return value.lower()


def failure(said: str, reference: ImageReference) -> ImageError | ImageUnavailableError:
    """Return the error for what skopeo said; pure."""
    found = _MESSAGE.findall(said)
    words = found[-1].replace('\\"', '"') if found else said.strip()
    if _DENIED.search(words):
        return ImageError(f"{reference.registry} does not give it out to this machine; is the name right?")
    if _NONE.search(words):
        return ImageError(f"{reference.registry} has no such image")
    return ImageUnavailableError(f"{reference.registry} cannot be read: {words[-_LAST_WORDS:]}")


def _environment(folder: Path) -> dict[str, str]:
    """Nothing of ours but the way to the network: skopeo would find credentials in a home."""
    kept = {name: value for name, value in os.environ.items() if name in _PROXIES}
    return {**kept, "HOME": str(folder), "TMPDIR": str(folder), "PATH": "/usr/bin:/bin"}
