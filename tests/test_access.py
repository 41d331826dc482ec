"""The pages of who may call what and of what is refused: every method is in the one, and both are up to date."""

from __future__ import annotations

import ast
import importlib.util
import sys
from typing import Any

import grpc
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool

from servicekit.rpc import access
from servicekit.rpc import audit as audited
from tests.needs import REPOSITORY


def page_maker(name: str) -> Any:
    """A program of protos/, whose folder is no package."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "protos" / f"{name}.py")
    made = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


access_page, refusals_page = page_maker("access_page"), page_maker("refusals_page")

METHODS = {
    f"{service.name}/{method.name}": (f"/{service.full_name}/{method.name}", method)
    for service in access_page.services()
    for method in service.methods
}


def test_the_services_of_all_protos_are_found() -> None:
    assert {"BillingService", "ExecutorService", "SchedulerService", "VmPoolService"} <= {
        name.partition("/")[0] for name in METHODS
    }


@pytest.mark.parametrize("name", METHODS)
def test_every_method_says_who_may_call_it(name: str) -> None:
    path, method = METHODS[name]
    callers = access.callers_of(path)
    assert callers, f"{name}: give it `option (wavepool.access.v1.access) = {{callers: [...]}};`"
    assert callers <= set(access.TITLES)
    # The interceptor reads one request, or passes streams on in both directions.
    assert method.server_streaming or not method.client_streaming


READS = ("Get", "List", "Watch", "Explain", "Compare", "Quote", "Project", "Verify", "Diagnose", "SendTest")
"""How the methods begin that change nothing."""


@pytest.mark.parametrize("name", METHODS)
def test_what_operators_may_change_is_written_to_the_audit_log(name: str) -> None:
    path, method = METHODS[name]
    may_change = {"operator", "admin"} & access.callers_of(path) and not method.name.startswith(READS)
    audit = access.access_of(path).audit
    assert audit or not may_change, f"{name}: add `audit: AUDIT_ALWAYS` or `AUDIT_OF_OTHERS` to its option `access`"
    assert audit != audited.OF_OTHERS or "account_ids" in method.input_type.fields_by_name


def test_each_kind_of_caller_has_words() -> None:
    kinds = descriptor_pool.Default().FindEnumTypeByName("wavepool.access.v1.Caller").values_by_name
    assert {kind.removeprefix("CALLER_").lower() for kind in kinds} - {"unspecified"} == set(access.TITLES)
    assert set(access_page.COLUMNS) == set(access.TITLES)


def test_a_method_whose_proto_names_nobody_has_no_callers() -> None:
    pool = descriptor_pool.Default()
    file = descriptor_pb2.FileDescriptorProto(name="forgotten.proto", package="wavepool.test")
    file.message_type.add(name="Empty")
    service = file.service.add(name="Forgetful")
    service.method.add(name="Forgotten", input_type=".wavepool.test.Empty", output_type=".wavepool.test.Empty")
    pool.Add(file) if hasattr(pool, "Add") else pool.AddSerializedFile(file.SerializeToString())
    assert access.callers_of("/wavepool.test.Forgetful/Forgotten") == frozenset()


@pytest.mark.parametrize("maker", [access_page, refusals_page])
def test_the_page_is_up_to_date(maker: Any) -> None:
    assert maker.PAGE.read_text() == maker.page(), f"run `{maker.COMMAND}`"


def test_refusals_are_found_with_field_text_status_and_exit_status() -> None:
    lines = refusals_page.PAGE.read_text().splitlines()
    assert "| `spec.priority` | is …; give … to … | INVALID_ARGUMENT | 422 | 2 | no |" in lines
    assert "|  | Provider … does not answer: …. Try again. | UNAVAILABLE | 503 | 3 | yes |" in lines
    assert "|  | This needs the token of an …; your role is …. |  | 403 | 4 | no |" in lines
    assert "|  | --hours is missing; for example --hours 0.5 |  |  | 2 | no |" in lines


def test_what_is_refused_for_money_or_by_a_queue_has_the_status_that_http_gives_it() -> None:
    lines = refusals_page.PAGE.read_text().splitlines()
    full = "… has a job / … jobs of yours in flight, which is its limit for each user. Wait until one is over"
    assert f"| `spec.queue` | {full} | RESOURCE_EXHAUSTED | 429 | 6 | no |" in lines
    assert not any(full in line and "INVALID_ARGUMENT" in line for line in lines)
    assert "| FAILED_PRECONDITION | 402 | 2 | no |" in next(line for line in lines if "A hard budget" in line)
    assert any("Send your API token as" in line and "| 401 | 4 |" in line for line in lines)


def named_in(service: str) -> set[str]:
    """The names of all that a service's own code raises or makes."""
    trees = [ast.parse(file.read_text()) for file in (REPOSITORY / "services" / service).rglob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    made = [getattr(node, "exc" if isinstance(node, ast.Raise) else "func", None) for node in nodes]
    return {getattr(one, "attr", getattr(one, "id", "")) for one in made}


@pytest.mark.parametrize("service", refusals_page.SERVICES)
def test_every_error_that_a_service_refuses_with_has_its_row(service: str) -> None:
    named, rows = named_in(service), set(refusals_page.rows_of(service))
    # An error of fields has a row for each field.
    kinds = [
        (kind.__name__, refusals_page.kind_of(kind, code))
        for kind, code in refusals_page.errors_of(service)
        if kind.__name__ in named and code is not grpc.StatusCode.INVALID_ARGUMENT
    ]
    assert kinds
    for name, kind in kinds:
        begins = kind.text.partition("…")[0]
        assert any(row.code == kind.code.name and row.text.startswith(begins) for row in rows), name


def test_callers_are_named_in_the_order_of_the_proto() -> None:
    assert access.in_words(frozenset({"vmpool"})) == "vmpool"
    assert (
        access.in_words(frozenset({"operator", "scheduler", "gateway"}))
        == "the gateway, the scheduler or operators and administrators with an API token"
    )
