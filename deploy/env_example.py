"""Writes .env.example, every setting of every service with its default, from the classes of settings: `make protos`."""

from __future__ import annotations

import ast
import importlib
import inspect
from datetime import timedelta
from enum import Enum
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from servicekit.settings.config import Settings, names_of_fields, secret_names
from servicekit.settings.setting_names import SOURCES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic.fields import FieldInfo

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / ".env.example"
HEAD = """\
# Every setting with its default, for the processes of compose.yaml: copy this file to `.env`, and take the `#` away
# from what you change. Durations are in seconds. A secret may stand in a file, which the setting's name with `_FILE`
# names. `python deploy/env_example.py` (part of `make protos`) makes this file; a test says when it is out of date.

# ==== compose.yaml
# The name that people type, and where its certificate comes from: `internal` (an authority of the proxy's own), a mail
# address (ACME), or two files in WAVEPOOL_CERTIFICATES, such as `/certificates/site.pem /certificates/site.key`
#WAVEPOOL_SITE=localhost
#WAVEPOOL_SITE_TLS=internal
#WAVEPOOL_CERTIFICATES=./deploy/compose/certificates
# Ports of the proxy on this host; an address may stand before them, such as 127.0.0.1:8443
#WAVEPOOL_HTTPS=443
#WAVEPOOL_HTTP=80
# Grafana's; give 3000 alone if others than this host may reach it
#WAVEPOOL_GRAFANA=127.0.0.1:3000
# The network of proxy and gateways, whose `X-Forwarded-For` is believed
#WAVEPOOL_FRONT=172.29.80.0/24
# The machines (docs/pool/providers.md), and how many processors the one of the profile `cpu` may use; 0: all
#WAVEPOOL_HOSTS=./deploy/compose/hosts.toml
#WAVEPOOL_EXECUTOR_CPUS=0
# How long Prometheus keeps what it measures, and a file of what else it scrapes
#WAVEPOOL_METRICS_KEPT=30d
#WAVEPOOL_TARGETS=./deploy/compose/targets.yml
# Secrets and certificates that `deploy/team up` makes, the folder that its backups find as /backups, and the image
#WAVEPOOL_TEAM_DIR=.wavepool/team
#WAVEPOOL_BACKUPS=./.wavepool/backups
#WAVEPOOL_IMAGE=wavepool
"""


def page() -> str:
    """The whole file."""
    return HEAD + "".join(f"\n# ==== {kind.__module__}\n{''.join(_lines(kind))}" for kind in settings_classes())


def settings_classes() -> Iterator[type[Settings]]:
    """The classes of settings that the services define."""
    for source in sorted(path for pattern in SOURCES for path in ROOT.glob(pattern)):
        module = importlib.import_module(".".join(source.relative_to(ROOT).with_suffix("").parts))
        for kind in vars(module).values():
            if isinstance(kind, type) and issubclass(kind, Settings) and kind.__module__ == module.__name__:
                yield kind


def _lines(kind: type[Settings]) -> Iterator[str]:
    described = {name: text for base in reversed(kind.__mro__) for name, text in _described(base).items()}
    variables = names_of_fields(kind)
    for name, field in kind.model_fields.items():
        variable = variables[name][0]
        text = described.get(name, "") + (" (a secret)" if variable in secret_names(kind) else "")
        yield f"# {text.strip()}\n" if text else ""
        yield f"#{variable}={_shown(field)}\n"


def _described(kind: type) -> Mapping[str, str]:
    """The first sentence of each field's text below it."""
    if not issubclass(kind, Settings) or kind is Settings:
        return {}
    [body] = ast.parse(inspect.getsource(kind)).body
    statements = body.body if isinstance(body, ast.ClassDef) else []
    found: dict[str, str] = {}
    for field, below in pairwise(statements):
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and isinstance(below, ast.Expr):
            text = " ".join(str(ast.literal_eval(below.value)).split())
            found[field.target.id] = text.partition(". ")[0].removesuffix(".")
    return found


def _shown(field: FieldInfo) -> str:
    """The default as the environment has it; empty if the machine decides."""
    if field.default_factory or field.is_required() or field.default is None:
        return ""
    default: Any = field.default
    parts = [_text(part) for part in (default if isinstance(default, tuple) else (default,))]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return "" if any(part.startswith("/") for part in parts) else ",".join(parts)


def _text(value: object) -> str:
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g}"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value.value if isinstance(value, Enum) else value)


def main() -> None:
    """Write the file."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
