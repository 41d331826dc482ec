"""How high a priority may be, by queue and account."""

from __future__ import annotations

import grpc
from hypothesis import given
from hypothesis import strategies as st
from wavepool.scheduler.v1 import queues_pb2_grpc
from wavepool.scheduler.v1.queues_pb2 import ApplyQueuesRequest, ListQueuesRequest, Queue

from services.scheduler.fairness.settings import Queues, QueueSettings, as_text, from_json, to_json
from tests.refused_calls import refused
from tests.services.scheduler.cluster import ACCOUNT, USER, Cluster

CAP = st.none() | st.integers(0, 100)


@given(CAP, CAP, CAP, CAP)
def test_the_nearest_queue_that_says_something_of_an_account_decides(
    own: int | None, own_for_all: int | None, above: int | None, above_for_all: int | None
) -> None:
    def queue(name: str, parent: str, of_account: int | None, of_all: int | None) -> QueueSettings:
        entry = {} if of_account is None else {"me": of_account}
        return QueueSettings(name, parent=parent, max_priority=of_all, max_priority_by_account=entry)

    red, lab = queue("red", "lab", own, own_for_all), queue("lab", "", above, above_for_all)
    queues = Queues([lab, red])

    in_order = ((own, "red"), (own_for_all, "red"), (above, "lab"), (above_for_all, "lab"), (0, ""))
    assert queues.max_priority("red", "me") == next((most, name) for most, name in in_order if most is not None)
    of_others = ((own_for_all, "red"), (above_for_all, "lab"), (0, ""))
    assert queues.max_priority("red", "other") == next((most, name) for most, name in of_others if most is not None)
    assert from_json(to_json(red)) == red


def test_a_queue_that_was_stored_before_there_were_caps_says_nothing() -> None:
    stored = to_json(QueueSettings("red"))
    del stored["max_priority"], stored["max_priority_by_account"]
    assert from_json(stored) == QueueSettings("red")


def test_changes_are_shown_by_the_names_of_documents() -> None:
    queue = QueueSettings("red", max_priority=0, max_priority_by_account={"acct_1": 20})
    shown = as_text(queue)
    assert (shown["maxPriority"], shown["maxPriorityByAccount.acct_1"]) == ("0", "20")
    assert "maxPriority" not in as_text(QueueSettings("red"))


DENIED = grpc.StatusCode.PERMISSION_DENIED


async def apply(cluster: Cluster, *queues: Queue) -> None:
    await queues_pb2_grpc.QueueServiceStub(cluster.channel).ApplyQueues(ApplyQueuesRequest(queues=queues))


async def test_a_priority_up_to_the_cap_is_everybodys_and_one_above_it_is_refused_with_who_says_so(
    cluster: Cluster,
) -> None:
    await apply(
        cluster,
        Queue(name="lab", max_priority=10),
        Queue(name="red", parent="lab"),
        Queue(name="blue", parent="lab", max_priority_by_account={ACCOUNT: 20, "another": 90}),
        Queue(name="grey", parent="lab", max_priority_by_account={"another": 90}),
        Queue(name="shut", parent="lab", max_priority=0),
    )

    for queue, most in {"red": 10, "blue": 20, "grey": 10, "shut": 0, "default": 0}.items():
        job = await cluster.submit(f"{queue} sound", priority=most, queue=queue)
        assert job.spec.priority == most
        said = f"is {most + 1}; in queue {queue!r} this account may have at most {most}"
        why = {"red": "queue 'lab' says so", "blue": "queue 'blue' says so", "default": "no queue lets"}.get(queue, "")
        above = cluster.submit(f"{queue} above", priority=most + 1, queue=queue)
        await refused(above, DENIED, "spec.priority", said, why, f"Give {most} or less")
    listed = await queues_pb2_grpc.QueueServiceStub(cluster.channel).ListQueues(ListQueuesRequest())
    caps = {status.queue.name: status.max_priority for status in listed.queues}
    assert caps == {"default": 0, "lab": 10, "red": 10, "blue": 10, "grey": 10, "shut": 0}


async def test_an_administrator_may_ask_for_any_priority_and_the_cap_lasts(cluster: Cluster) -> None:
    await apply(cluster, Queue(name="red", max_priority=10))
    await cluster.stop()
    await cluster.start()
    await refused(cluster.submit("above", priority=11, queue="red"), DENIED)
    cluster.billing.administrators = {USER}
    assert (await cluster.submit("urgent", priority=100, queue="red")).spec.priority == 100
