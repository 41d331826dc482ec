"""The pages of who may call what and of what is refused: every method is in the one, and both are up to date."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool

from servicekit.rpc import access
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


def test_callers_are_named_in_the_order_of_the_proto() -> None:
    assert access.in_words(frozenset({"vmpool"})) == "vmpool"
    assert (
        access.in_words(frozenset({"operator", "scheduler", "gateway"}))
        == "the gateway, the scheduler or operators and administrators with an API token"
    )
