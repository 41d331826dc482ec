"""Makes or renews the certificates of the services, for WAVEPOOL_TLS_DIR: `make certs`.

The folder gets an authority (`ca.pem`, and `ca.key`, which no service needs) and for each process `<name>.pem`: its key
and its certificate. Run it again before they end: it makes all but the authority again, and running services take them
without a restart. With `--new-ca` it makes another authority, and `ca.pem` holds both until the next run. With `--also`
it makes certificates for other services, too (docs/protocols.md), which later runs renew like the rest.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from servicekit.rpc.tls import AUTHORITY_FILE, dns_name
from servicekit.whole_file import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("billing", "gateway", "operator", "scheduler", "vmpool")
"""A certificate each. That of `operator` is for people and health checks, and proves the name of no service."""
DEFAULT_FOLDER = Path(".wavepool") / "tls"
AUTHORITY_KEY_FILE = "ca.key"
AUTHORITY_LIFE = timedelta(days=3650)
CLOCK_SKEW = timedelta(minutes=5)
"""Certificates begin this much earlier, for hosts whose clock is slow."""
_NAME = re.compile(r"[a-z][a-z0-9-]{0,39}")


class UnusableAuthorityError(Exception):
    """The folder's authority cannot sign; the message names the file and the fix."""


@dataclass(frozen=True)
class Authority:
    """An authority that signs certificates."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate


def make(folder: Path, life: timedelta, *, also: Sequence[str] = (), new_authority: bool = False) -> Sequence[str]:
    """Makes or renews the certificates in `folder`, and gives their names; raises UnusableAuthorityError, OSError."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    before = _authority_in(folder)
    authority = _made_authority() if new_authority or before is None else before
    end = authority.certificate.not_valid_after_utc
    if datetime.now(UTC) + life > end:
        why = f"{folder / AUTHORITY_FILE} ends on {end:%F}, before the certificates would"
        raise UnusableAuthorityError(f"{why}; make another authority with --new-ca")
    trusted = [authority, before] if before and new_authority else [authority]
    # First the authorities, so that a process that reads the folder in between trusts both old and new certificates.
    write_whole(folder / AUTHORITY_FILE, b"".join(_pem(each.certificate) for each in trusted))
    write_whole(folder / AUTHORITY_KEY_FILE, _pem_of_key(authority.key))
    kept = {file.stem for file in folder.glob("*.pem")} - {Path(AUTHORITY_FILE).stem}
    names = sorted({*NAMES, *also, *kept})
    for name in names:
        write_whole(folder / f"{name}.pem", _signed(authority, name, life))
    return names


def _authority_in(folder: Path) -> Authority | None:
    key_file, certificate_file = folder / AUTHORITY_KEY_FILE, folder / AUTHORITY_FILE
    if not key_file.exists() and not certificate_file.exists():
        return None
    try:
        key = load_pem_private_key(key_file.read_bytes(), None)
        # The newest stands first.
        certificate = x509.load_pem_x509_certificates(certificate_file.read_bytes())[0]
    except (OSError, ValueError) as error:
        raise UnusableAuthorityError(
            f"the authority in {folder} cannot be read ({error}); make certificates where {AUTHORITY_KEY_FILE} is, or "
            "choose an empty folder"
        ) from error
    if not isinstance(key, ec.EllipticCurvePrivateKey) or key.public_key() != certificate.public_key():
        raise UnusableAuthorityError(f"{key_file} is not the key of {certificate_file}; choose an empty folder")
    return Authority(key, certificate)


def _made_authority() -> Authority:
    key = ec.generate_private_key(ec.SECP256R1())
    # The serial number tells authorities apart whose name is the same.
    number = x509.random_serial_number()
    name = _name(f"Wavepool authority {number:x}"[:60])
    usage = x509.KeyUsage(
        key_cert_sign=True,
        crl_sign=True,
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
    certificate = (
        _builder(name, name, key, AUTHORITY_LIFE)
        .serial_number(number)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .add_extension(usage, critical=True)
        .sign(key, hashes.SHA256())
    )
    return Authority(key, certificate)


def _signed(authority: Authority, name: str, life: timedelta) -> bytes:
    """A new key and its certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    both_sides = x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH])
    certificate = (
        _builder(_name(name), authority.certificate.subject, key, life)
        .serial_number(x509.random_serial_number())
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .add_extension(both_sides, critical=False)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(dns_name(name))]), critical=False)
        .sign(authority.key, hashes.SHA256())
    )
    return _pem_of_key(key) + _pem(certificate)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, life: timedelta
) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .not_valid_before(now - CLOCK_SKEW)
        .not_valid_after(now + life)
    )


def _name(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(Encoding.PEM)


def _pem_of_key(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def main(arguments: Sequence[str] | None = None) -> None:
    """Makes or renews the certificates that the command line asks for."""
    parser = argparse.ArgumentParser(description="Make or renew the certificates of the services.")
    parser.add_argument("folder", nargs="?", type=Path, default=DEFAULT_FOLDER, help=f"default: {DEFAULT_FOLDER}")
    parser.add_argument("--days", type=int, default=365, help="how long the certificates are valid (default: 365)")
    parser.add_argument(
        "--new-ca", action="store_true", help="make another authority; trust the old one until next time"
    )
    parser.add_argument("--also", action="append", default=[], metavar="NAME", help="another service; may be repeated")
    options = parser.parse_args(arguments)
    if options.days < 1:
        parser.error("--days: give 1 or more")
    for name in options.also:
        if not _NAME.fullmatch(name) or name == Path(AUTHORITY_FILE).stem:
            parser.error(f"--also: a name has up to 40 small letters, digits and `-`, and is not `ca`; it is {name!r}")
    try:
        life = timedelta(days=options.days)
        names = make(options.folder, life, also=options.also, new_authority=options.new_ca)
    except (UnusableAuthorityError, OSError) as error:
        raise SystemExit(f"make certs: {error}") from error
    print(f"{options.folder.absolute()} has certificates for {options.days} days: {', '.join(names)}")
    print(f"export WAVEPOOL_TLS_DIR={options.folder.absolute()}")


if __name__ == "__main__":
    main()
