from __future__ import annotations

import re
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from servicekit.clock import new_id
from services.vmpool.providers.dstack.runs.name import (
    MACHINE_TAG,
    POOL_TAG,
    TOKEN_TAG,
    run_name,
    tags_of,
)
from services.vmpool.providers.dstack.runs.run import Run, run_from_json
from tests.services.vmpool.providers.dstack.dstack_words import ORDER, a_run

DSTACKS_RULE = re.compile(r"[a-z][a-z0-9-]{1,40}")
NAME = run_name("wavepool", ORDER.machine_id)

pool_names = st.from_regex(r"[a-z][a-z0-9-]{0,19}", fullmatch=True)


@settings(deadline=None)
@given(pool_names, st.text(min_size=1, max_size=60))
def test_every_machine_of_every_pool_has_a_name_that_dstack_takes(pool_name: str, machine_id: str) -> None:
    assert DSTACKS_RULE.fullmatch(run_name(pool_name, machine_id))


@settings(deadline=None)
@given(pool_names, st.lists(st.builds(lambda: new_id("mach")), min_size=2, max_size=20, unique=True))
def test_machines_never_share_a_name(pool_name: str, machine_ids: list[str]) -> None:
    assert len({run_name(pool_name, machine_id) for machine_id in machine_ids}) == len(machine_ids)


def test_a_usual_name_can_be_read() -> None:
    assert run_name("wavepool", "mach_01J9Z3KQ0000000000000000AB") == "wavepool-01j9z3kq0000000000000000ab"


def test_ours_is_what_has_our_name_and_knows_the_token() -> None:
    tags = tags_of("wavepool", ORDER)
    run = Run("run-1", NAME, "running", tags=tags, token=ORDER.token)
    assert run.machine_id("wavepool") == ORDER.machine_id
    assert run.machine_id("other") is None
    assert replace(run, name="wavepool-of-somebody").machine_id("wavepool") is None
    assert replace(run, token=ORDER.token[1:]).machine_id("wavepool") is None
    assert replace(run, tags={**tags, TOKEN_TAG: ""}, token="").machine_id("wavepool") is None
    for tag in (POOL_TAG, MACHINE_TAG, TOKEN_TAG):
        assert replace(run, tags={**tags, tag: "else"}).machine_id("wavepool") is None


def test_a_machine_s_run_is_the_one_with_its_mark_and_id_whatever_its_pool_is_called_now() -> None:
    tags = tags_of("an-older-name", ORDER)
    run = Run("run-1", NAME, "running", tags=tags, token=ORDER.token)
    assert run.is_machine(ORDER.machine_id)
    assert run.is_machine(ORDER.machine_id, "run-1")
    assert not run.is_machine(ORDER.machine_id, "run-2")
    assert not run.is_machine("mach_other")
    assert not replace(run, tags={}).is_machine(ORDER.machine_id)
    assert not replace(run, token=ORDER.token[1:]).is_machine(ORDER.machine_id)


def test_the_token_itself_is_in_no_tag() -> None:
    assert all(ORDER.token not in value for value in tags_of("wavepool", ORDER).values())


def test_a_run_of_the_servers_tells_its_machine() -> None:
    assert run_from_json(a_run("running")).machine_id("wavepool") == ORDER.machine_id
    assert run_from_json({**a_run("running"), "run_spec": {"run_name": NAME}}).machine_id("wavepool") is None
