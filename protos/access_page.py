"""Writes docs/billing/access.md, the table of who may call what, from the protos: `make protos`."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from servicekit.rpc.access import TITLES, callers_of

if TYPE_CHECKING:
    from collections.abc import Iterator

PROTOS = Path(__file__).resolve().parent
PAGE = PROTOS.parent / "docs" / "billing" / "access.md"
COMMAND = "python protos/access_page.py"
HEAD = f"""\
# Who may call what

`{COMMAND}` (part of `make protos`) makes this page from the option `access` of each method in `protos/`.
A test says when it is out of date. [decisions/0018](../decisions/0018-who-may-call-what.md) has the reasons.

Health and reflection are open to everybody. All other methods need credentials. Without any they answer
UNAUTHENTICATED, and PERMISSION_DENIED, with the callers in the message, to everybody whom the table does not name.

- **gateway, scheduler, vmpool**: the services' common token as `authorization: Bearer <token>` (the first line of
  `service-token`), and the name as `wavepool-service`. With TLS ([operations.md](../operations.md#tls)) the certificate
  proves the name, and the token alone is not enough.
- **operator**: an API token of an operator or administrator, as `authorization: Bearer wpt_…`. Billing is asked for it,
  and its answer is remembered for 5 s.
- **admin**: an API token of an administrator.
- **other service**: a service that the operator lists, by its own token or, with TLS, its certificate
  ([protocols.md](../protocols.md#other-services)).
- **lease holder**: the machine's token, which its pool makes and gives to the holder of a lease.
- **machine's admin**: the executor's own token (`EXECUTOR_ADMIN_TOKEN`, or `executor-admin-token` in its data folder).
- **host's pool**: the token of a host that the provider `hosts` lists ([providers.md](../pool/providers.md#hosts)).

The metrics ports (`/metrics` of each process) answer without credentials, in plain HTTP even with TLS. They have sums
of the books, and nothing of single accounts. Keep them behind a firewall if services listen beyond 127.0.0.1.
"""
COLUMNS = {
    "gateway": "gateway",
    "scheduler": "scheduler",
    "vmpool": "vmpool",
    "operator": "operator",
    "admin": "admin",
    "other_service": "other service",
    "lease_holder": "lease holder",
    "machine_admin": "machine's admin",
    "host_pool": "host's pool",
}


def services() -> Iterator[Any]:
    """The descriptors of all services below this folder, by name."""
    files = sorted(PROTOS.glob("wavepool/**/*.proto"))
    modules = (".".join(file.relative_to(PROTOS).with_name(f"{file.stem}_pb2").parts) for file in files)
    for name in modules:
        yield from importlib.import_module(name).DESCRIPTOR.services_by_name.values()


def methods(service: Any) -> dict[str, frozenset[str]]:  # noqa: ANN401 - protobuf has no common type for it
    """The callers of each method, in the order of the proto."""
    return {method.name: callers_of(f"/{service.full_name}/{method.name}") for method in service.methods}


def page() -> str:
    """The whole page."""
    return HEAD + "".join(_section(service) for service in services())


def _section(service: Any) -> str:  # noqa: ANN401 - as above
    table = methods(service)
    kinds = [kind for kind in TITLES if any(kind in _with_admin(callers) for callers in table.values())]
    lines = [f"| method | {' | '.join(COLUMNS[kind] for kind in kinds)} |", "|---" * (len(kinds) + 1) + "|"]
    for name, callers in table.items():
        marks = ("yes" if kind in _with_admin(callers) else "" for kind in kinds)
        lines.append(f"| `{name}` | {' | '.join(marks)} |")
    return f"\n## {service.full_name}\n\n" + "\n".join(lines) + "\n"


def _with_admin(callers: frozenset[str]) -> frozenset[str]:
    """An administrator may do what an operator may."""
    return callers | {"admin"} if "operator" in callers else callers


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
