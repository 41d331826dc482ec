"""The alerts of deploy/prometheus/rules.yml: valid, each with what to do, and about metrics that processes have."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "prometheus"
DECLARED = re.compile(r'= (counter|gauge|histogram)\(\s*"(wavepool_\w+)"')


def rules() -> Iterator[dict[str, Any]]:
    for group in yaml.safe_load((FOLDER / "rules.yml").read_text(encoding="utf-8"))["groups"]:
        yield from group["rules"]


def exported() -> set[str]:
    """The series that the processes' metrics give, and those that the rules make of them."""
    suffixes = {"counter": ["_total"], "gauge": [""], "histogram": ["_bucket", "_count", "_sum"]}
    sources = [path for folder in ("gateway", "services", "servicekit") for path in (ROOT / folder).rglob("*.py")]
    declared = [found for path in sources for found in DECLARED.findall(path.read_text(encoding="utf-8"))]
    given = {f"{name}{suffix}" for kind, name in declared for suffix in suffixes[kind]}
    return given | {rule["record"] for rule in rules() if "record" in rule}


def test_each_alert_has_a_heading_of_its_name_in_the_runbook() -> None:
    headings = re.findall(r"^## (\w+)$", (ROOT / "docs" / "runbook.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings == [rule["alert"] for rule in rules() if "alert" in rule]


def test_each_alert_is_about_series_that_processes_give() -> None:
    named = {name for rule in rules() for name in re.findall(r"\bwavepool[_:][\w:]+", rule["expr"])}
    assert named
    assert named <= exported()


@pytest.mark.prometheus
def test_alerts_fire_and_end_as_they_should() -> None:
    for command in (["check", "rules", "rules.yml"], ["test", "rules", "rules_test.yml"]):
        done = subprocess.run(
            ["promtool", *command], cwd=FOLDER, capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stdout + done.stderr
