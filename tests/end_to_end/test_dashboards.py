"""The dashboards of deploy/grafana, on what a real Prometheus has scraped from real processes.

Grafana itself is in no package here: that it shows these files, nobody has seen.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import httpx
import pytest
import yaml

from tests.deploy.test_prometheus_rules import exported
from tests.end_to_end.wavepool_processes import ROOT, Wavepool, reference, until
from tests.needs import needs
from tests.postgres_server import PostgresServer
from vocabulary.ports import free_ports

DASHBOARDS = sorted((ROOT / "deploy" / "grafana" / "dashboards").glob("*.json"))
KERNELS = {"right": reference("leaky-relu"), "wrong": (ROOT / "cli" / "demo_wrong.hip").read_text(encoding="utf-8")}
STATUSES = {"right": "ACCEPTED", "wrong": "WRONG_ANSWER"}
SERVICES = ("gateway", "scheduler", "vmpool", "billing")
NOT_HERE = {
    # ROCm/device-metrics-exporter, docs/configuration/metricslist.md at 0778d3ab; it exports them in small letters.
    "AMD device metrics exporter": {
        "gpu_gfx_activity",
        "gpu_used_vram",
        "gpu_total_vram",
        "gpu_package_power",
        "gpu_junction_temperature",
        "gpu_ecc_uncorrect_total",
    },
    # dstack 0.22.5, server/services/prometheus/{custom,client}_metrics.py.
    "dstack server": {
        "dstack_instance_gpu_count",
        "dstack_instance_price_dollars_per_hour",
        "dstack_pending_runs_total",
        "dstack_submit_to_provision_duration_seconds_bucket",
    },
}
"""Rows about what cannot run here, with the metrics that it has."""
LABELS = re.compile(r"\b(?:by|on) \([^)]*\)|{[^}]*}")
METRIC = re.compile(r"\b(?:wavepool|process|pg|gpu|dstack)[_:][\w:]+|\bup\b")
ABSENT = " or on() vector(0)"
"""What a panel shows of things that there need not be."""


class Query(NamedTuple):
    """One query of a panel, and the title of the row that it is below."""

    row: str
    panel: str
    expression: str
    legend: str

    @property
    def labels(self) -> set[str]:
        return set(re.findall(r"{{(\w+)}}", self.legend))


def queries(dashboard: Path) -> Iterator[Query]:
    row = ""
    for panel in json.loads(dashboard.read_text(encoding="utf-8"))["panels"]:
        if panel["type"] == "row":
            row = panel["title"]
        for target in panel.get("targets", []):
            yield Query(row, panel["title"], target["expr"].replace("$__rate_interval", "10m"), target["legendFormat"])


@dataclass(frozen=True)
class Prometheus:
    """A process that scrapes each second."""

    http: httpx.Client

    def values(self, expression: str) -> list[dict[str, str]]:
        """The labels of each series that has a number now."""
        try:
            answer = self.http.get("/query", params={"query": expression})
        except httpx.TransportError:
            return []
        if answer.status_code == 503:
            return []  # It starts.
        assert answer.status_code == 200, f"{expression}: {answer.text}"
        return [one["metric"] for one in answer.json()["data"]["result"] if one["value"][1] != "NaN"]

    def shows(self, query: Query) -> bool:
        found = self.values(query.expression)
        named = [labels for labels in found if query.labels <= labels.keys()]
        return bool(named) or bool(found and query.expression.endswith(ABSENT))


def metrics_port(wavepool: Wavepool, service: str) -> str:
    process = wavepool.process_of(service)
    assert process
    return process.environ()[f"{service.upper()}_METRICS_PORT"]


@pytest.fixture(scope="module")
@needs("prometheus", "postgres_exporter")
def prometheus(
    wavepool: Wavepool, postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """It has seen an accepted and a wrong kernel; deploy/prometheus configures it, but for where things are."""
    folder = tmp_path_factory.mktemp("prometheus")
    port, exporter = free_ports(2)
    places = {service: metrics_port(wavepool, service) for service in SERVICES} | {"postgres": exporter}
    settings = yaml.safe_load((ROOT / "deploy/prometheus/prometheus.yml").read_text(encoding="utf-8"))
    assert {one["job_name"] for one in settings["scrape_configs"]} == {*places, "others"}
    settings["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    settings["rule_files"] = [str(ROOT / "deploy/prometheus/rules.yml")]
    settings["scrape_configs"] = [
        {"job_name": job, "static_configs": [{"targets": [f"127.0.0.1:{place}"]}]} for job, place in places.items()
    ]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(settings))
    database = {"DATA_SOURCE_NAME": f"host={postgres_server.folder} user=wavepool dbname=postgres sslmode=disable"}
    prometheus = ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data"]
    commands = (
        ["prometheus-postgres-exporter", f"--web.listen-address=127.0.0.1:{exporter}"],
        [*prometheus, f"--web.listen-address=127.0.0.1:{port}"],
    )
    with (folder / "log").open("wb") as log:
        started = [subprocess.Popen(each, env=os.environ | database, stdout=log, stderr=log) for each in commands]
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}/api/v1", trust_env=False) as client:
            asked = Prometheus(client)
            until(lambda: len(asked.values("up == 1")) == len(places), "the targets")
            # A rate does not see how a series begins: the first run makes those by GPU type and verdict.
            for kernels in (("right",), ("right", "wrong")):
                ended = {name: wavepool.ended(wavepool.submit(KERNELS[name])) for name in kernels}
                assert {name: one["status"] for name, one in ended.items()} == {
                    name: STATUSES[name] for name in kernels
                }
                until(lambda: asked.values("rate(wavepool_scheduler_queue_seconds_count[10m])"), "a rate")
            yield asked
    finally:
        for process in started:
            process.terminate()
            process.wait(30)


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("dashboard", DASHBOARDS, ids=lambda path: path.stem)
def test_each_query_of_a_dashboard_has_an_answer(dashboard: Path, prometheus: Prometheus) -> None:
    here = [query for query in queries(dashboard) if query.row not in NOT_HERE]

    def answered() -> bool:
        here[:] = [query for query in here if not prometheus.shows(query)]
        return not here

    try:
        until(answered, "answers")
    except AssertionError:
        pytest.fail(f"no answer to {[(query.panel, query.expression) for query in here]}")


def test_each_query_is_about_metrics_that_exist() -> None:
    process = {"process_cpu_seconds_total", "process_resident_memory_bytes", "up"}
    assert DASHBOARDS
    ours = exported() | process
    for dashboard in DASHBOARDS:
        for query in queries(dashboard):
            named = set(METRIC.findall(LABELS.sub("", query.expression)))
            assert named, query
            # Those of PostgreSQL's exporter are asked for above.
            known = {name for name in named if name.startswith("pg_")} | NOT_HERE.get(query.row, ours)
            assert named <= known, query
