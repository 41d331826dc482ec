"""The certificates of `make certs`."""

from __future__ import annotations

import stat
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from servicekit.rpc.tls import TlsFiles
from tests.certificates import NAMES, make

ROOT = Path(__file__).parents[2]


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "deploy" / "certs.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_every_process_gets_a_certificate_that_it_takes_and_nobody_else_may_read(tmp_path: Path) -> None:
    done = run(str(tmp_path / "tls"), "--days", "30")
    assert done.returncode == 0, done.stderr
    assert f"export WAVEPOOL_TLS_DIR={tmp_path / 'tls'}" in done.stdout
    files = list((tmp_path / "tls").iterdir())
    assert {file.name for file in files} == {"ca.pem", "ca.key", *(f"{name}.pem" for name in NAMES)}
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    assert stat.S_IMODE((tmp_path / "tls").stat().st_mode) == 0o700
    for name in NAMES:
        TlsFiles(tmp_path / "tls", name)
    end = x509.load_pem_x509_certificate((tmp_path / "tls" / "billing.pem").read_bytes()).not_valid_after_utc
    assert timedelta(days=29) < end - datetime.now(UTC) < timedelta(days=31)


def test_another_run_renews_the_certificates_and_keeps_the_authority(tmp_path: Path) -> None:
    make(tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    make(tmp_path)
    kept = {name for name, content in before.items() if (tmp_path / name).read_bytes() == content}
    assert kept == {"ca.pem", "ca.key"}


def test_a_certificate_for_another_service_is_made_on_demand_and_then_renewed_like_the_rest(tmp_path: Path) -> None:
    assert "trainer" in run(str(tmp_path), "--also", "trainer").stdout
    before = (tmp_path / "trainer.pem").read_bytes()
    make(tmp_path)
    assert (tmp_path / "trainer.pem").read_bytes() != before
    TlsFiles(tmp_path, "trainer")
    refused = run(str(tmp_path), "--also", "../x")
    assert (refused.returncode, "--also: a name has up to 40" in refused.stderr) == (2, True)


def test_a_new_authority_is_trusted_beside_the_old_one_until_the_next_run(tmp_path: Path) -> None:
    def authorities() -> list[x509.Certificate]:
        return x509.load_pem_x509_certificates((tmp_path / "ca.pem").read_bytes())

    make(tmp_path)
    [old] = authorities()
    make(tmp_path, new_authority=True)
    new, beside = authorities()
    assert beside == old != new
    TlsFiles(tmp_path, "billing")
    make(tmp_path)
    assert authorities() == [new]
    TlsFiles(tmp_path, "billing")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "ca.key").unlink(), "cannot be read"),
        (lambda folder: (folder / "ca.pem").write_text("no"), "cannot be read"),
        (
            lambda folder: make(folder / "other") or (folder / "other" / "ca.key").replace(folder / "ca.key"),
            "ca.key is",
        ),
    ],
)
def test_an_authority_that_cannot_sign_is_named_and_nothing_is_changed(
    tmp_path: Path, spoil: object, said: str
) -> None:
    make(tmp_path)
    spoil(tmp_path)
    before = (tmp_path / "billing.pem").read_bytes()
    refused = run(str(tmp_path))
    assert refused.returncode == 1
    assert refused.stderr.startswith("make certs: ")
    assert said in refused.stderr
    assert "choose an empty folder" in refused.stderr
    assert (tmp_path / "billing.pem").read_bytes() == before


def test_certificates_that_would_outlive_the_authority_are_refused_with_the_way_out(tmp_path: Path) -> None:
    refused = run(str(tmp_path), "--days", "4000")
    assert refused.returncode == 1
    assert "make another authority with --new-ca" in refused.stderr
