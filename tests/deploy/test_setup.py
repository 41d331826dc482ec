"""What deploy/setup does again and what it leaves; a script stands in for uv and writes down its calls.

And what deploy/base-image says of what is missing.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SYSTEM_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
VERSION = "0.13.8"
UV = f"""#!/bin/sh
[ "$1" != --version ] || {{ echo "uv {VERSION}"; exit; }}
echo "$1 $SSL_CERT_FILE $PIP_CERT" >>calls
[ ! -e no-network ] || exit 1
mkdir -p .venv/bin && touch .venv/bin/python && chmod +x .venv/bin/python
touch protos/wavepool/v1/job_pb2.py
"""
PIP = """#!/bin/sh
[ "$3" = global.cert ] && cat pip-cert 2>/dev/null
"""
FILES = ("uv.lock", "pyproject.toml", "client/pyproject.toml", "protos/generate.py", "protos/wavepool/v1/job.proto")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    bootstrap = tmp_path / ".cache" / "bootstrap" / "bin"
    bootstrap.mkdir(parents=True)
    for name, text in (("uv", UV), ("pip", PIP)):
        (bootstrap / name).write_text(text)
        (bootstrap / name).chmod(0o755)
    (tmp_path / "deploy").mkdir()
    shutil.copy(ROOT / "deploy" / "setup", tmp_path / "deploy")
    return tmp_path


def run(checkout: Path, *options: str, **settings: str) -> list[str]:
    """Run the script, and return the calls of uv that it made."""
    (checkout / "calls").unlink(missing_ok=True)
    others = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "UV_", "PYTHON"))}
    certificates = ("SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
    environment = {name: value for name, value in others.items() if name not in certificates} | settings
    subprocess.run([checkout / "deploy" / "setup", *options], env=environment, check=True, timeout=60)
    return (checkout / "calls").read_text().splitlines() if (checkout / "calls").exists() else []


def test_a_second_run_does_nothing(checkout: Path) -> None:
    assert [call.split()[0] for call in run(checkout)] == ["sync"]
    assert run(checkout) == []


@pytest.mark.parametrize("name", [*FILES, "deploy/setup"])
def test_a_changed_file_is_seen(checkout: Path, name: str) -> None:
    run(checkout)
    with (checkout / name).open("a") as file:
        file.write("# changed\n")
    assert run(checkout), f"{name} changed and nothing was done"
    assert run(checkout) == []


@pytest.mark.parametrize("name", [".venv", "protos/wavepool/v1/job_pb2.py"])
def test_what_was_removed_is_made_again(checkout: Path, name: str) -> None:
    run(checkout)
    path = checkout / name
    shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert run(checkout)


def test_other_options_and_another_python_are_seen(checkout: Path) -> None:
    run(checkout)
    assert run(checkout, "--no-dev")
    assert run(checkout), "the packages of developers are missing"
    python = checkout / "python4"
    python.write_text('#!/bin/sh\n[ "$1" != --version ] || echo "Python 4.0"\n')
    python.chmod(0o755)
    assert run(checkout, PYTHON=str(python))


def test_a_run_that_failed_is_repeated(checkout: Path) -> None:
    run(checkout)
    (checkout / "uv.lock").write_text("newer")
    (checkout / "no-network").touch()
    with pytest.raises(subprocess.CalledProcessError):
        run(checkout)
    (checkout / "no-network").unlink()
    (checkout / "uv.lock").write_text("uv.lock")
    assert run(checkout), "half of the newer packages may be there"


def test_the_authorities_of_the_system_are_trusted_unless_others_are_named(checkout: Path) -> None:
    expected = SYSTEM_CERTIFICATES if Path(SYSTEM_CERTIFICATES).exists() else ""
    assert run(checkout) == [f"sync {expected} {expected}"]
    (checkout / "pip-cert").write_text("/etc/pip.pem")
    assert run(checkout, "--no-dev") == ["sync /etc/pip.pem /etc/pip.pem"]
    assert run(checkout, SSL_CERT_FILE="/etc/uv.pem") == ["sync /etc/uv.pem /etc/pip.pem"]


def test_the_script_for_a_base_image_names_the_package_that_is_missing(tmp_path: Path) -> None:
    run = subprocess.run(
        ["/bin/sh", str(ROOT / "deploy/base-image")],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stderr) == (78, "base-image: needs debootstrap: apt-get install debootstrap\n")
