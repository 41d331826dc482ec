from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from servicekit.clock import new_id
from services.vmpool.providers.dstack_name import (
    MACHINE_TAG,
    POOL_TAG,
    TOKEN_TAG,
    owned_machine_id,
    run_name,
    tags_of,
)
from services.vmpool.providers.dstack_run import run_from_json
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
    assert owned_machine_id("wavepool", NAME, tags, ORDER.token) == ORDER.machine_id
    assert owned_machine_id("other", NAME, tags, ORDER.token) is None
    assert owned_machine_id("wavepool", "wavepool-of-somebody", tags, ORDER.token) is None
    assert owned_machine_id("wavepool", NAME, tags, "another token") is None
    assert owned_machine_id("wavepool", NAME, {**tags, TOKEN_TAG: ""}, "") is None
    for tag in (POOL_TAG, MACHINE_TAG, TOKEN_TAG):
        assert owned_machine_id("wavepool", NAME, {**tags, tag: "else"}, ORDER.token) is None


def test_the_token_itself_is_in_no_tag() -> None:
    assert all(ORDER.token not in value for value in tags_of("wavepool", ORDER).values())


def test_a_run_of_the_servers_tells_its_machine() -> None:
    assert run_from_json(a_run("running")).machine_id("wavepool") == ORDER.machine_id
    assert run_from_json({**a_run("running"), "run_spec": {"run_name": NAME}}).machine_id("wavepool") is None
