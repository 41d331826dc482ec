"""Getting HIP's real headers on a machine without them: apt's programs and dpkg-deb are scripted."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hipcpu.build_folder import ToolchainError
from services.executor.devices.gfx942 import toolchain
from services.executor.devices.gfx942.hip_files import HipFiles, fetch_if_possible, fetched_folder, find

APT_GET = """#!/bin/sh
case "$*" in
*indextargets*) printf '%s\\n' $MIRRORS ;;
*download*)
    while [ "$1" != download ]; do shift; done
    shift
    for package; do echo "$package" >>"$CALLS"; touch "${package%%=*}_${package#*=}_amd64.deb"; done ;;
*) [ -z "$FAULT" ] || { echo "E: $FAULT" >&2; exit 100; }; echo update >>"$CALLS" ;;
esac
"""
APT_CACHE = """#!/bin/sh
case "$*" in
*search*) printf '%s - a library\\n' rocm-device-libs-21 rocm-device-libs-22 rocm-device-libs-24 ;;
*) printf '%s\\n' "$OFFERED" ;;
esac
"""
DPKG_DEB = """#!/bin/sh
package=$(basename "$2")
version=${package#*_}
case "$package" in
libamdhip64-dev_*)
    mkdir -p "$3/usr/include/hip" "$3/usr/share/doc"
    echo "#define HIP_VERSION_MAJOR ${version%%.*}" >"$3/usr/include/hip/hip_version.h"
    echo "#define HIP_VERSION_MINOR 4" >>"$3/usr/include/hip/hip_version.h" ;;
libclang-common-*)
    mkdir -p "$3/usr/lib/llvm-22/lib/clang/22/include"
    touch "$3/usr/lib/llvm-22/lib/clang/22/include/__clang_hip_runtime_wrapper.h" ;;
rocm-device-libs-*)
    mkdir -p "$3/usr/lib/llvm-22/lib/clang/22/amdgcn/bitcode"
    touch "$3/usr/lib/llvm-22/lib/clang/22/amdgcn/bitcode/ocml.bc" ;;
esac
"""
OFFERED = """ libamdhip64-dev | 7.2.4-1~exp2 | http://mirror/debian experimental/main amd64 Packages
 libamdhip64-dev | 6.4.3-5 | http://mirror/debian testing/main amd64 Packages
 libhipcub-dev | 6.4.3-2 | http://mirror/debian testing/main amd64 Packages
 libclang-common-22-dev | 1:22.1.8-1 | http://mirror/debian testing/main amd64 Packages
 rocm-device-libs-21 | 7.0.2-3 | http://mirror/debian testing/main amd64 Packages
 rocm-device-libs-22 | 7.2.4-1 | http://mirror/debian experimental/main amd64 Packages
 rocm-device-libs-24 | 7.9.0-1 | http://mirror/debian experimental/main amd64 Packages"""
NOWHERE = Path("/an/empty/machine")


@pytest.fixture
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What apt-get was asked for, one thing a line."""
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, text in (("apt-get", APT_GET), ("apt-cache", APT_CACHE), ("dpkg-deb", DPKG_DEB)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("FAULT", "")
    monkeypatch.setenv("OFFERED", OFFERED)
    monkeypatch.setenv("MIRRORS", "http://security/debian-security/ http://mirror/debian/")
    return tmp_path / "calls"


def test_a_release_of_each_major_version_is_unpacked_into_the_cache(calls: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    assert fetch_if_possible(cache) == ""
    assert [release.title for release in find(cache, NOWHERE)] == ["HIP 7.4 (Debian's)", "HIP 6.4 (Debian's)"]
    assert sorted(path.name for path in cache.iterdir()) == ["hip-6", "hip-7", "hip.lock"]
    assert not (fetched_folder(cache, 7) / "usr" / "share").exists()


def test_of_several_that_fetch_at_once_one_does_and_the_others_have_it_too(calls: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(fetch_if_possible, [cache] * 4)) == [""] * 4
    assert calls.read_text().splitlines().count("update") == 1
    assert len(find(cache, NOWHERE)) == 2


def test_packages_are_of_the_release_and_readable_for_our_clang(calls: Path, tmp_path: Path) -> None:
    fetch_if_possible(tmp_path / "cache")
    asked = calls.read_text().splitlines()
    assert asked == [
        "update",
        "libamdhip64-dev=7.2.4-1~exp2",
        "libclang-common-22-dev=1:22.1.8-1",
        "rocm-device-libs-22=7.2.4-1",
        "libamdhip64-dev=6.4.3-5",
        "libhipcub-dev=6.4.3-2",
        "libclang-common-22-dev=1:22.1.8-1",
        "rocm-device-libs-22=7.2.4-1",
    ]


def test_a_mirror_with_one_release_is_enough(calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OFFERED", "\n".join(OFFERED.splitlines()[1:]))
    assert fetch_if_possible(tmp_path / "cache") == ""
    assert [release.version for release in find(tmp_path / "cache", NOWHERE)] == ["6.4"]


def test_a_mirror_without_hip_is_named_as_the_reason(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OFFERED", "")
    assert fetch_if_possible(tmp_path / "cache") == "Debian's mirror has no libamdhip64-dev of HIP 7 or 6"


def test_a_machine_with_another_distribution_has_no_mirror(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MIRRORS", "http://mirror/ubuntu/")
    assert fetch_if_possible(tmp_path / "cache") == "apt has no mirror of Debian here"


def test_a_machine_without_network_asks_once_a_day(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = tmp_path / "cache"
    monkeypatch.setenv("FAULT", "Could not resolve the mirror's name")
    reasons = [fetch_if_possible(cache) for _ in range(3)]
    assert all("Could not resolve the mirror's name" in reason for reason in reasons)
    monkeypatch.setenv("FAULT", "")
    (note,) = cache.glob("*.tried")
    assert fetch_if_possible(cache) == reasons[0]
    yesterday = time.time() - 90_000
    os.utime(note, (yesterday, yesterday))
    assert fetch_if_possible(cache) == ""
    assert not note.exists()


def test_a_machine_without_apt_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert fetch_if_possible(tmp_path / "cache") == "there is no apt-get here"


def test_rocm_s_own_files_come_first(calls: Path, tmp_path: Path) -> None:
    fetch_if_possible(tmp_path / "cache")
    rocm = tmp_path / "rocm"
    (fetched_folder(tmp_path / "cache", 6) / "usr").rename(rocm)
    assert [release.title for release in find(tmp_path / "cache", rocm)] == ["HIP 6.4 (ROCm's)", "HIP 7.4 (Debian's)"]


@pytest.mark.parametrize(
    ("wanted", "is_named"),
    [("", True), ("6", True), ("6.4", True), ("6.4.1", False), ("7", False), ("64", False)],
)
def test_a_release_is_named_by_the_beginning_of_its_version(wanted: str, is_named: bool) -> None:
    nowhere = Path()
    assert HipFiles("6.4", nowhere, nowhere, nowhere, "Debian's").is_of(wanted) is is_named


def test_the_wanted_release_counts_and_a_missing_one_is_named(
    calls: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAVEPOOL_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("ROCM_PATH", str(NOWHERE))
    with pytest.raises(ToolchainError, match="this machine lacks HIP's real headers; install ROCm, or run"):
        toolchain.releases()
    fetch_if_possible(toolchain.cache_folder())
    assert [one.hip.version for one in toolchain.releases()] == ["7.4", "6.4"]
    assert [one.hip.version for one in toolchain.releases("6")] == ["6.4", "7.4"]
    with pytest.raises(ToolchainError, match=r"lacks HIP's headers of release 5; it has those of 7\.4, 6\.4"):
        toolchain.releases("5")
