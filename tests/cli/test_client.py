from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.cli.conftest import Answer, ScriptedGateway, Stream
from tests.cli.scenes import ACCEPTED, JOB, OPENING, SUBMISSIONS, scripted
from wavepool_client import Client
from wavepool_client.errors import AuthenticationError, InputError, RateLimitedError, UnreachableError
from wavepool_client.http.event_stream import Event, follow
from wavepool_client.http.retries import Retries
from wavepool_client.submission import Isolation, Resources, Submission


def test_a_kernel_is_submitted_and_followed_to_its_result(gateway: ScriptedGateway) -> None:
    scripted(gateway, Stream(ACCEPTED))
    seen: list[Event] = []
    with Client(gateway.endpoint, "secret") as client:
        result = client.submit_hip_kernel("code", "relu", dtype="float16", on_event=seen.append)
    assert (result.id, result.status, result.accepted, result.avg_runtime_ms) == (JOB, "ACCEPTED", True, 0.25)
    assert [event.seq for event in seen] == [1, 2, 3, 4, 5, 6]
    assert gateway.asked("POST", SUBMISSIONS)[0].body["dtype"] == "float16"


@pytest.mark.parametrize("timing", ["cold", "hot", "first-call"])
def test_calls_are_timed_as_it_is_asked_for(gateway: ScriptedGateway, timing: str) -> None:
    scripted(gateway, Stream(ACCEPTED))
    with Client(gateway.endpoint, "secret") as client:
        client.submit_hip_kernel("code", "relu", timing=timing)
        with pytest.raises(InputError, match="'warm' is not valid; choose cold, hot, first-call"):
            client.submit_hip_kernel("code", "relu", timing="warm")
    assert [request.body["timing"] for request in gateway.asked("POST", SUBMISSIONS)] == [timing]


def test_what_it_takes_goes_along_if_it_is_not_one_whole_gpu(gateway: ScriptedGateway) -> None:
    scripted(gateway, Stream(ACCEPTED))
    with Client(gateway.endpoint, "secret") as client:
        client.submit(Submission("code", "relu"))
        client.submit(Submission("code", "relu", resources=Resources(fraction=0.5, isolation=Isolation.TIME_SLICE)))
    bodies = [call.body for call in gateway.asked("POST", SUBMISSIONS)]
    assert [body.get("resources") for body in bodies] == [None, {"fraction": 0.5, "isolation": "time-slice"}]


def test_fallbacks_go_along(gateway: ScriptedGateway) -> None:
    scripted(gateway, Stream(ACCEPTED))
    with Client(gateway.endpoint, "secret") as client:
        client.submit_hip_kernel("code", "relu", fallback_gpu_types=["MI250X", "MI210"])
    assert gateway.asked("POST", SUBMISSIONS)[0].body["fallback_gpu_types"] == ["MI250X", "MI210"]


def test_a_stream_that_ends_before_the_job_does_is_resumed(gateway: ScriptedGateway) -> None:
    scripted(gateway, Stream(OPENING), Stream(ACCEPTED[4:]))
    gateway.only("GET", f"{SUBMISSIONS}/{JOB}", Answer({"state": "RUNNING"}), Answer({"state": "FINISHED"}))
    with Client(gateway.endpoint) as client:
        assert [event.seq for event in client.events(JOB)] == [1, 2, 3, 4, 5, 6]


def test_an_event_that_comes_twice_is_given_once(gateway: ScriptedGateway) -> None:
    scripted(gateway, Stream(OPENING, cut=True), Stream(ACCEPTED))
    with Client(gateway.endpoint) as client:
        assert [event.seq for event in client.events(JOB)] == [1, 2, 3, 4, 5, 6]


def test_an_answer_that_got_lost_is_asked_for_again_under_the_same_key(gateway: ScriptedGateway) -> None:
    scripted(gateway, Stream(ACCEPTED))
    gateway.only("POST", SUBMISSIONS, Answer({"title": "Bad Gateway"}, 502), Answer({"id": JOB}, 201))
    with Client(gateway.endpoint) as client:
        assert client.submit_hip_kernel("code", "relu").accepted
    first, second = (request.headers["Idempotency-Key"] for request in gateway.asked("POST", SUBMISSIONS))
    assert first == second


def test_errors_have_types_and_say_what_to_do(gateway: ScriptedGateway) -> None:
    fields = {"title": "Wrong", "errors": [{"field": "dtype", "message": "take float32"}]}
    for status, kind in ((422, InputError), (401, AuthenticationError), (429, RateLimitedError)):
        gateway.only("POST", SUBMISSIONS, Answer(fields, status, {"Retry-After": "7"}))
        with Client(gateway.endpoint) as client, pytest.raises(kind) as raised:
            client.submit_hip_kernel("code", "relu")
        if isinstance(raised.value, InputError):
            assert raised.value.fields == {"dtype": "take float32"}
        if isinstance(raised.value, RateLimitedError):
            assert raised.value.retry_after_seconds == 7


def test_a_mode_that_is_none_is_refused_before_anything_is_sent(gateway: ScriptedGateway) -> None:
    with Client(gateway.endpoint) as client, pytest.raises(InputError, match="'chek' is not valid; choose full, check"):
        client.submit_hip_kernel("code", "relu", mode="chek")
    assert gateway.requests == []


def test_an_empty_id_reaches_no_other_route(gateway: ScriptedGateway) -> None:
    gateway.on("GET", f"{SUBMISSIONS}/", Answer({"submissions": []}))
    with Client(gateway.endpoint) as client, pytest.raises(InputError, match="is empty; give the id"):
        client.submission("")
    assert gateway.requests == []


def test_metrics_are_the_orchestrator_s(gateway: ScriptedGateway) -> None:
    gateway.on("GET", "/api/amd/metrics", Answer({"active_vms": 1}))
    with Client(gateway.endpoint) as client:
        assert client.get_orchestrator_metrics() == {"active_vms": 1}


def test_a_stream_that_stays_broken_is_given_up_after_growing_pauses() -> None:
    now, pauses = 0.0, list[float]()

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds
        pauses.append(seconds)

    def broken(after: int) -> Iterator[Event]:
        raise UnreachableError(f"no stream after {after}")
        yield

    retries = Retries(give_up_seconds=30, sleep=sleep, monotonic=lambda: now)
    with pytest.raises(UnreachableError, match="no answer for 30 s: no stream after 3"):
        list(follow(broken, lambda: False, 3, retries))
    assert pauses == sorted(pauses)
    assert 30 < sum(pauses) < 40
