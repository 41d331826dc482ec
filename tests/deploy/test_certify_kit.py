"""The kit that certifies a machine without a network: built, unpacked and run as on such a machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from hipcpu.toolchain import compiler
from tests.needs import needs

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "deploy" / "certify_kit" / "build.py"
WITHOUT_NETWORK = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


@pytest.fixture(scope="module")
def kit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("kit") / "wavepool-certify.pyz"
    command = [sys.executable, str(BUILD), "--output", str(made), "--preset", "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"
    return made


@pytest.fixture(scope="module")
@needs("user_namespaces")
def unpacked(kit: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The folder that this Python unpacked the kit to, and the finished process."""
    folder = tmp_path_factory.mktemp("machine")
    python = Path(sys.base_prefix) / "bin" / "python3"
    options = ["--device", "rocm", "--only", "environment", "--only", "sandbox", "--only", "honest"]
    environment = {"PATH": "/usr/bin:/bin:/usr/sbin", "HOME": str(folder), "ROCM_PATH": str(folder / "nowhere")}
    done = subprocess.run(
        [*WITHOUT_NETWORK, str(python), "-I", str(kit), *options],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert not list(folder.glob("wavepool-certify/packages/*/ziglang")), "it has no compiler"
    return folder, done


def test_it_is_one_small_file(kit: Path) -> None:
    assert kit.stat().st_size < 60 << 20
    with zipfile.ZipFile(kit) as archive:
        assert sorted(archive.namelist()) == ["__main__.py", "identity", "payload.tar.xz"]


def test_it_has_the_packages_for_each_python(unpacked: tuple[Path, object]) -> None:
    packages = unpacked[0] / "wavepool-certify" / "packages"
    assert sorted(path.name for path in packages.iterdir()) == ["any", "cp311", "cp312", "cp313"]
    for python in ("311", "312", "313"):
        [library] = (packages / f"cp{python}" / "numpy" / "_core").glob("_multiarray_umath*.so")
        assert f"cpython-{python}-x86_64" in library.name


def test_without_a_network_and_a_gpu_it_says_what_is_there_and_what_is_missing(
    unpacked: tuple[Path, subprocess.CompletedProcess[str]],
) -> None:
    folder, done = unpacked
    assert done.returncode == 3, done.stderr
    result = json.loads((folder / "certify-rocm" / "result.json").read_text())
    steps = {step["step"]: step for step in result["steps"]}
    assert steps["environment/machine"]["outcome"] == "passed"
    assert steps["environment/processor"]["outcome"] == "passed", "judges have their compiled part"
    assert "no time of a `solution` can be VALID" in steps["environment/recorder"]["why"]
    assert "no hipcc at" in steps["environment/compiler"]["why"]
    assert steps["device/open"]["outcome"] == "not possible here"
    assert len([step for step in result["not_run"] if step.startswith("honest/")]) >= 83, "the kernels came along"
    assert (folder / "certify-rocm" / "report.html").is_file()


@pytest.mark.docker
@pytest.mark.executor_image
def test_it_runs_with_the_python_of_debian_13_too(kit: Path) -> None:
    """Debian 13 has Python 3.13, which needs other compiled packages than the Python of the other tests."""
    packages = "numpy, scipy.special, ml_dtypes, psutil, elftools.elf.elffile, pydantic, pydantic_settings, pynvml"
    script = (
        "python3 -I /kit.pyz --device rocm --only environment >&2; [ $? = 3 ] || exit 1; "
        f"wavepool-certify/python313/bin/python -c 'import {packages}' && cat certify-rocm/result.json"
    )
    debian = ("--network", "none", "--volume", f"{kit}:/kit.pyz:ro", "--workdir", "/tmp", "wavepool-executor-base")  # noqa: S108  the container's
    done = subprocess.run(
        ["docker", "run", "--rm", *debian, "sh", "-c", script], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["machine"]["Python"].startswith("3.13.")
    outcomes = {step["step"]: step["outcome"] for step in result["steps"]}
    assert (outcomes["environment/machine"], outcomes["environment/processor"]) == ("passed", "passed")


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.mark.soak
def test_with_the_compiler_beside_it_the_kit_certifies_a_processor(
    unpacked: tuple[Path, object], tmp_path: Path
) -> None:
    folder, _ = unpacked
    versions = (folder / "wavepool-certify" / "recorder.txt").read_text()
    assert versions == "".join(f"{name}=={version(name)}\n" for name in ("ziglang", "llvmlite"))
    site = Path(compiler().folder).parent
    beside = folder / "wavepool-certify" / "packages" / "any"
    for part in [*site.glob("ziglang*"), *site.glob("llvmlite*")]:
        shutil.copytree(part, beside / part.name, copy_function=_link)
    [python] = (folder / "wavepool-certify").glob("python*/bin/python")
    options = ["--device", "cpu", "--out", "out", "--sample", "1", "--only", "environment", "--only", "honest"]
    for program in (["hipcpu.prepare"], ["services.executor.core", "certify", *options]):
        command = [*WITHOUT_NETWORK, str(python), "-m", *program]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False)
        assert done.returncode == 0, done.stderr
    steps = json.loads((tmp_path / "out/result.json").read_text())["steps"]
    assert [step["outcome"] for step in steps if step["step"].startswith("honest/")] == ["passed"]


def test_builds_for_a_gpu_say_why_they_have_no_recorder(unpacked: tuple[Path, object], tmp_path: Path) -> None:
    tree = unpacked[0] / "wavepool-certify" / "tree"
    said = (
        "from pathlib import Path; from services.executor.devices.offload import host_code as one;"
        "print(one.recorder_command(Path('/x'))); print(one.recorder_mounts(Path('/x')), repr(one.recorder_identity()))"
    )
    [python] = (tree.parent).glob("python*/bin/python")
    hidden = "import sys; sys.modules['ziglang'] = None; " + said
    done = subprocess.run([str(python), "-c", hidden], cwd=tmp_path, capture_output=True, text=True, check=True)
    command, rest = done.stdout.splitlines()
    assert command.startswith("echo 'the cpu device")
    assert command.endswith(" >/build/host/not_recordable.txt")
    assert rest == "[] ''"
