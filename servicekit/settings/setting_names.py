"""Finds environment variables that look like our settings but that nothing reads, most of them misspelt.

The known names come from the source of the settings classes, so a service knows the names of all others without
importing them. `python -m servicekit.settings.setting_names` prints the warnings as a JSON list of texts.
"""

from __future__ import annotations

import ast
import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path

from servicekit.settings.config import SECRETS
from vocabulary.names import nearest_name

ROOT = Path(__file__).parents[2]
SOURCES = (
    "servicekit/settings/sandbox_settings.py",
    "gateway/config.py",
    "services/*/config.py",
    "services/*/providers/*/settings.py",
)
PREFIXES = ("AMD_", "WAVEPOOL_", "VMPOOL_", "EXECUTOR_", "SCHEDULER_", "BILLING_", "GATEWAY_")

_ALIKE = 0.7
"""Similarity by difflib, 0 to 1: allows one wrong letter in a short word, or two swapped words in a long name."""

OTHERS_OF_OURS = frozenset(
    {
        # The command, and compose.yaml.
        *(
            "WAVEPOOL_ENDPOINT",
            "WAVEPOOL_TOKEN",
            "WAVEPOOL_PROFILE",
            "WAVEPOOL_DATA_DIR",
            "WAVEPOOL_UP_MARK",
        ),
        *(f"WAVEPOOL_{name}" for name in ("HTTP", "HTTPS", "SITE", "SITE_TLS", "CERTIFICATES", "FRONT", "HOSTS")),
        *(
            f"WAVEPOOL_{name}"
            for name in ("TEAM_DIR", "IMAGE", "EXECUTOR_CPUS", "METRICS_KEPT", "GRAFANA", "TARGETS", "BACKUPS")
        ),
        # Health checks, which show the certificate of `operator`.
        "WAVEPOOL_TLS_DIR",
        # The compiler, and programs in sandboxes.
        *("WAVEPOOL_CACHE_DIR", "WAVEPOOL_CPU_WORKERS"),
        *("WAVEPOOL_DEVICE_MEMORY_MIB", "WAVEPOOL_DEVICE_MEMORY_HELD_MIB"),
        *(
            "WAVEPOOL_RECORDING",
            "WAVEPOOL_PROPERTIES",
            "WAVEPOOL_FINDINGS",
            "WAVEPOOL_PROFILED",
            "WAVEPOOL_KERNEL_TRACE",
        ),
        # Tests.
        *("WAVEPOOL_LIVE_DSTACK", "WAVEPOOL_TEST_CACHE"),
    }
)
"""Variables that programs of ours read without a settings class."""

RENAMED = {
    "EXECUTOR_RUN_LIMIT": "SCHEDULER_LONGEST_RUN",
    "SCHEDULER_DEFAULT_GPU": "VMPOOL_DEFAULT_GPU",
    "VMPOOL_DOCKER_GPU_COUNT": "VMPOOL_GPUS_PER_MACHINE",
    "VMPOOL_DSTACK_BACKENDS": "VMPOOL_BACKENDS",
    "VMPOOL_DSTACK_GPU_COUNTS": "VMPOOL_GPUS_PER_MACHINE",
    "VMPOOL_DSTACK_MAX_HOURLY_PRICE": "VMPOOL_MAX_PRICE",
    "VMPOOL_DSTACK_OFFERS_LIFETIME": "VMPOOL_OFFER_LIFETIME",
    "VMPOOL_DSTACK_SPOT_POLICY": "VMPOOL_SPOT_POLICY",
}
"""Settings of earlier versions that nothing reads any more, each with its replacement."""

FOREIGN = re.compile(
    r"""
    # ROCm's HIP and OpenCL runtime: ROCm/clr, rocclr/utils/flags.hpp
    AMD_(?:LOG_(?:LEVEL|LEVEL_FILE|MASK)|SERIALIZE_(?:KERNEL|COPY)|OPT_FLUSH|DIRECT_DISPATCH|CPU_AFFINITY
    |THREAD_TRACE_ENABLE|GPU_FORCE_SINGLE_FP_DENORM|OCL_\w+)
    # ROCm's compiler support: ROCm/llvm-project, amd/comgr/README.md
    |AMD_COMGR_\w+
    # Mesa, docs/envvars.rst; GPUOpen-Drivers/AMDVLK, README.md
    |AMD_(?:DEBUG|VULKAN_ICD)
    # Kubernetes, in every container for a service called `gateway`: "Discovering services" of its documentation
    |\w+_SERVICE_(?:HOST|PORT\w*)|\w+_PORT_\d+_\w+
    # Jenkins; CGI (RFC 3875)
    |EXECUTOR_NUMBER|GATEWAY_INTERFACE
    """,
    re.VERBOSE,
)
"""Names with our prefixes that belong to other programs; each comment names its source."""


@cache
def read_names() -> Mapping[str, str]:
    """The names that settings classes read, each with the provider that owns it, or an empty text."""
    common = _class_named("ServiceSettings", ROOT / "servicekit" / "settings" / "config.py")
    found: dict[str, str] = {}
    for source in sorted(path for pattern in SOURCES for path in ROOT.glob(pattern)):
        provider = source.parent.name if source.parents[1].name == "providers" else ""
        for body in ast.parse(source.read_text(encoding="utf-8")).body:
            if isinstance(body, ast.ClassDef) and (prefix := _prefix(body)):
                bases = {base.id for base in body.bases if isinstance(base, ast.Name)}
                fields = [*body.body, *(common.body if common.name in bases else ())]
                found |= dict.fromkeys(_names(fields, prefix), provider)
    return found


def setting_warnings(environment: Mapping[str, str]) -> list[str]:
    """A warning for each wrong name in `environment`: one sentence, never with a value."""
    known = read_names()
    used = {name.strip() for name in environment.get("VMPOOL_PROVIDERS", "local").split(",")}
    warnings: list[str] = []
    for name in sorted(environment):
        provider = known.get(name.upper())
        if provider and provider not in used:
            warnings.append(f"{name} is set, but VMPOOL_PROVIDERS does not name {provider}: nothing reads it")
        elif name.upper() in RENAMED:
            warnings.append(f"{name} is set, and nothing reads it any more; set {RENAMED[name.upper()]} instead")
        elif is_unknown(name.upper()):
            near = _nearest(name.upper(), [*known, *OTHERS_OF_OURS])
            hint = f"did you mean {near}?" if near else "docs/operations.md lists the settings"
            warnings.append(f"{name} is set, and nothing reads it; {hint}")
    return warnings


def warn_of_settings(log: logging.Logger) -> None:
    """Logs a warning for each wrong name in this process's environment."""
    for warning in setting_warnings(os.environ):
        log.warning(warning)


def is_unknown(name: str) -> bool:
    """True if a name has one of our prefixes, and no program that we know of reads it."""
    if not name.startswith(PREFIXES) or name in read_names() or name in OTHERS_OF_OURS or FOREIGN.fullmatch(name):
        return False
    plugins = (point.name.upper() for point in entry_points(group="wavepool.providers"))
    own = {provider.upper() for provider in read_names().values()}
    return not name.startswith(tuple(f"VMPOOL_{plugin}_" for plugin in plugins if plugin not in own))


def _nearest(name: str, known: Sequence[str]) -> str:
    """The most similar known name with the same prefix; empty if none is similar enough."""
    prefix = next(prefix for prefix in PREFIXES if name.startswith(prefix))
    after = {other.removeprefix(prefix): other for other in known if other.startswith(prefix)}
    return after.get(nearest_name(name.removeprefix(prefix), list(after), _ALIKE), "")


def _class_named(name: str, source: Path) -> ast.ClassDef:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    return next(body for body in tree.body if isinstance(body, ast.ClassDef) and body.name == name)


def _prefix(settings: ast.ClassDef) -> str:
    """The `env_prefix` of a class of settings; empty for any other class."""
    for node in ast.walk(settings):
        if isinstance(node, ast.keyword) and node.arg == "env_prefix" and isinstance(node.value, ast.Constant):
            return str(node.value.value)
    return ""


def _names(body: list[ast.stmt], prefix: str) -> Iterator[str]:
    for field in body:
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
            names = _aliases(field) or [f"{prefix}{field.target.id}".upper()]
            yield from names
            if field.target.id in SECRETS or {"SecretStr", "ExecutorEnvironment"} & _words(field.annotation):
                yield from (f"{name}_FILE" for name in names)


def _words(annotation: ast.expr) -> set[str]:
    return {node.id for node in ast.walk(annotation) if isinstance(node, ast.Name)}


def _aliases(field: ast.AnnAssign) -> list[str]:
    calls = [node for node in ast.walk(field) if isinstance(node, ast.Call)]
    choices = [argument for call in calls if ast.unparse(call.func) == "AliasChoices" for argument in call.args]
    return [str(choice.value) for choice in choices if isinstance(choice, ast.Constant)]


if __name__ == "__main__":
    sys.stdout.write(json.dumps(setting_warnings(os.environ)) + "\n")
