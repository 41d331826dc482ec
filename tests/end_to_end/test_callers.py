"""Who may call what, on a running Wavepool: every method with every kind of credentials answers as the table says."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.protobuf.json_format import MessageToDict, ParseDict
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from wavepool.billing.v1 import billing_pb2, billing_pb2_grpc
from wavepool.executor.v1 import executor_pb2, executor_pb2_grpc, run_event_pb2
from wavepool.vmpool.v1 import vmpool_pb2, vmpool_pb2_grpc

from servicekit.rpc.access import SERVICES, callers_of
from servicekit.rpc.callers import REMEMBERED_SECONDS
from servicekit.rpc.credentials import ServiceCredentials
from servicekit.service_token import service_token_of
from servicekit.whole_file import write_whole
from services.vmpool.machines.machine_token import MachineTokens
from tests.certificates import make
from tests.end_to_end.wavepool_processes import Wavepool, kernel, reference, start, until
from tests.needs import REPOSITORY
from tests.test_access import METHODS

Pair = tuple[str, str]
Credentials = tuple[tuple[Pair, ...], frozenset[str] | None]
OWNERS = {
    "AlertService": "billing",
    "BillingService": "billing",
    "IdentityService": "billing",
    "PriceService": "billing",
    "ProjectionService": "billing",
    "ReportService": "billing",
    "SignInService": "billing",
    "SchedulerService": "scheduler",
    "RankingService": "scheduler",
    "ReservationService": "scheduler",
    "DiskService": "scheduler",
    "MetricsService": "scheduler",
    "QueueService": "scheduler",
    "VmPoolService": "vmpool",
}
"""The process that serves each service; executors are further down."""
REFUSALS = {grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED}


def bearer(token: str) -> tuple[Pair, ...]:
    return (("authorization", f"Bearer {token}"),)


def target_of(wavepool: Wavepool, service: str) -> str:
    """Where it serves, as it logged."""
    lines = (wavepool.data_dir / "logs" / f"{service}.log").read_text().splitlines()
    entry = [json.loads(line) for line in lines if '"serving"' in line][-1]
    return f"{entry['host']}:{entry['port']}"


def service_credentials(wavepool: Wavepool, name: str) -> tuple[Pair, ...]:
    return ServiceCredentials(name, service_token_of(wavepool.data_dir)).metadata()


def answer(
    channel: grpc.Channel, path: str, method: Any, metadata: tuple[Pair, ...], seconds: float = 30
) -> tuple[grpc.StatusCode, str]:
    """Status and message of a call with an empty request, which moves no money: each lacks an id or an amount."""
    try:
        if method.client_streaming:
            call = channel.stream_stream(path)(iter([b""]), metadata=metadata, timeout=seconds)
            next(call, None)
            call.cancel()
        elif method.server_streaming:
            call = channel.unary_stream(path)(b"", metadata=metadata, timeout=seconds)
            next(call, None)
            call.cancel()
        else:
            channel.unary_unary(path)(b"", metadata=metadata, timeout=seconds)
    except grpc.RpcError as error:
        return error.code(), error.details()  # pyright: ignore - grpc's types lack it
    return grpc.StatusCode.OK, ""


@pytest.fixture(scope="module")
def people(wavepool: Wavepool) -> dict[str, str]:
    """The API tokens of a user and of an operator."""
    tokens: dict[str, str] = {}
    for role in ("user", "operator"):
        name = f"{role}-{time.time_ns()}"
        assert wavepool.http.post("/api/v1/users", json={"name": name, "role": role}).status_code == 201
        tokens[role] = wavepool.http.post("/api/v1/tokens", json={"name": "laptop", "user_id": name}).json()["token"]
    return tokens


@pytest.fixture
def callers(wavepool: Wavepool, people: dict[str, str]) -> dict[str, Credentials]:
    """Credentials by name, each with the kinds of callers that they prove; None if they are unknown."""
    administrator = (wavepool.data_dir / "token").read_text().strip()
    services = {name: (service_credentials(wavepool, name), frozenset({name})) for name in SERVICES}
    return {
        **services,
        "a user": (bearer(people["user"]), frozenset()),
        "an operator": (bearer(people["operator"]), frozenset({"operator"})),
        "an administrator": (bearer(administrator), frozenset({"operator", "admin"})),
        "a service without a name": (service_credentials(wavepool, "gateway")[:1], frozenset()),
        "a service with another name": (service_credentials(wavepool, "executor"), frozenset()),
        "a name without a token": ((("wavepool-service", "gateway"),), None),
        "a guess": (bearer("guess"), None),
        "a guess of an API token": (bearer("wpt_" + "a" * 43), None),
        "nobody": ((), None),
    }


@pytest.mark.parametrize("name", [name for name in METHODS if name.partition("/")[0] in OWNERS])
def test_each_method_answers_each_caller_as_the_table_says(
    wavepool: Wavepool, callers: dict[str, Credentials], name: str
) -> None:
    path, method = METHODS[name]
    allowed = callers_of(path)
    with grpc.insecure_channel(target_of(wavepool, OWNERS[name.partition("/")[0]])) as channel:
        for caller, (metadata, kinds) in callers.items():
            # A stream that is served may have nothing to say.
            is_served = bool(kinds and allowed & kinds)
            code, said = answer(channel, path, method, metadata, 1 if is_served and method.server_streaming else 30)
            if kinds is None:
                assert code is grpc.StatusCode.UNAUTHENTICATED, (caller, said)
                assert "send `authorization: Bearer <token>`" in said
            elif is_served:
                # IdentityService itself refuses requests that name no person.
                assert code is not grpc.StatusCode.UNAUTHENTICATED, (caller, said)
                assert " is for " not in said, (caller, said)
            else:
                assert code is grpc.StatusCode.PERMISSION_DENIED, (caller, said)
                assert f"{method.name} is for " in said
                assert "you call as " in said


@pytest.mark.parametrize("name", [name for name in METHODS if name.startswith(("ExecutorService/", "SessionService/"))])
def test_a_machine_answers_nobody_without_its_token(
    wavepool: Wavepool, callers: dict[str, Credentials], name: str
) -> None:
    path, method = METHODS[name]
    endpoint, token = machine_of(wavepool)
    with grpc.insecure_channel(endpoint) as channel:
        for caller, (metadata, _) in callers.items():
            has_token = any(key == "authorization" for key, _ in metadata)
            expected = grpc.StatusCode.PERMISSION_DENIED if has_token else grpc.StatusCode.UNAUTHENTICATED
            assert answer(channel, path, method, metadata)[0] is expected, caller
        assert answer(channel, path, method, bearer(token))[0] not in REFUSALS


def machine_of(wavepool: Wavepool) -> tuple[str, str]:
    """Endpoint and token of a machine that has just finished a run."""
    wavepool.ended(wavepool.submit(reference("leaky-relu"), mode="check"))
    [note] = wavepool.data_dir.glob("machines/*/process.json")
    tokens = MachineTokens((wavepool.data_dir / "pool_secret").read_bytes())
    return json.loads(note.read_text())["endpoint"], tokens.of(note.parent.name)


def test_health_and_reflection_answer_everybody(wavepool: Wavepool) -> None:
    for owner in OWNERS.values():
        with grpc.insecure_channel(target_of(wavepool, owner)) as channel:
            answered = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
            assert answered.status == health_pb2.HealthCheckResponse.SERVING
            asked = iter([reflection_pb2.ServerReflectionRequest(list_services="")])
            [listed] = reflection_pb2_grpc.ServerReflectionStub(channel).ServerReflectionInfo(asked)
            assert listed.list_services_response.service


def test_a_revoked_api_token_stops_working_within_seconds(wavepool: Wavepool) -> None:
    path, method = METHODS["VmPoolService/ListMachines"]
    made = wavepool.http.post("/api/v1/tokens", json={"name": "for an hour"}).json()
    with grpc.insecure_channel(target_of(wavepool, "vmpool")) as channel:
        assert answer(channel, path, method, bearer(made["token"]))[0] is grpc.StatusCode.OK
        assert wavepool.http.delete(f"/api/v1/tokens/{made['id']}").is_success

        def refused() -> bool:
            return answer(channel, path, method, bearer(made["token"]))[0] is grpc.StatusCode.UNAUTHENTICATED

        until(refused, "the refusal of a revoked token", REMEMBERED_SECONDS + 5)


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Wavepool, Path]]:
    """A Wavepool whose services talk in TLS, and its folder of certificates."""
    folder = tmp_path_factory.mktemp("tls")
    make(folder, also=("trainer", "painter"))
    running = start(tmp_path_factory.mktemp("encrypted"), WAVEPOOL_TLS_DIR=str(folder))
    yield running, folder
    running.stop()


def with_certificate(wavepool: Wavepool, folder: Path, service: str, name: str) -> grpc.Channel:
    """A channel to a service with the certificate of `name`."""
    own = (folder / f"{name}.pem").read_bytes()
    credentials = grpc.ssl_channel_credentials((folder / "ca.pem").read_bytes(), own, own)
    options = (("grpc.ssl_target_name_override", f"{service}.wavepool"),)
    return grpc.secure_channel(target_of(wavepool, service), credentials, options)


@dataclass(frozen=True)
class Others:
    """Two services that the file lists: one may charge the account, and the other none."""

    wavepool: Wavepool
    file: Path
    account: str
    pool: Any
    billing: Any
    painters_pool: Any
    painters_billing: Any

    def lease(self, job_id: str) -> vmpool_pb2.Lease:
        """The lease of a job, once a machine is free."""
        wanted = ParseDict(bodies_in_the_page()[0] | {"job_id": job_id}, vmpool_pb2.AcquireLeaseRequest())

        def granted() -> vmpool_pb2.Lease | None:
            try:
                [grant] = self.pool.AcquireLease(wanted, timeout=30).grants
            except grpc.RpcError as error:
                if error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED:  # pyright: ignore - grpc's types lack it
                    return None
                raise
            return grant.lease

        return until(granted, "a lease")

    def hold(self, key: str) -> billing_pb2.ReserveCreditResponse:
        asked = {"account_id": self.account, "gpu_types": ["MI300X"], "longest_time": "300s", "idempotency_key": key}
        return self.billing.ReserveCredit(ParseDict(asked, billing_pb2.ReserveCreditRequest()))


@pytest.fixture(params=[False, pytest.param(True, marks=pytest.mark.slow)], ids=["plain", "tls"])
def others(request: pytest.FixtureRequest) -> Iterator[Others]:
    wavepool, folder = request.getfixturevalue("encrypted") if request.param else (None, None)
    wavepool = wavepool or request.getfixturevalue("wavepool")
    account, file = wavepool.balance()["account_name"], wavepool.data_dir / "callers.toml"
    tokens = {name: "" if folder else f"own-token-of-the-{name}" for name in ("trainer", "painter")}
    proofs = {name: f'token = "{token}"\n' if token else "" for name, token in tokens.items()}
    file.write_text(f'[trainer]\naccounts = ["{account}"]\n{proofs["trainer"]}[painter]\n{proofs["painter"]}')
    with ExitStack() as stack:

        def channel(service: str, name: str) -> grpc.Channel:
            if folder:
                return stack.enter_context(with_certificate(wavepool, folder, service, name))
            plain = stack.enter_context(grpc.insecure_channel(target_of(wavepool, service)))
            return grpc.intercept_channel(plain, SignedBy(bearer(tokens[name])))

        pools = [vmpool_pb2_grpc.VmPoolServiceStub(channel("vmpool", name)) for name in tokens]
        billings = [billing_pb2_grpc.BillingServiceStub(channel("billing", name)) for name in tokens]
        yield Others(wavepool, file, account, pools[0], billings[0], pools[1], billings[1])
    file.unlink(missing_ok=True)


def test_another_service_runs_on_a_lease_of_its_own_and_charges_its_account(others: Others) -> None:
    lease = others.lease("job-1")
    assert (lease.job_id, others.lease("job-1")) == ("trainer/job-1", lease)
    waiting = others.wavepool.submit(reference("leaky-relu"), mode="check")
    hold = others.hold("job-1")
    told = MessageToDict(lease, preserving_proto_field_name=True)
    own = {"lease_expire_time": told["expire_time"], "fencing_token": told["fencing_token"], "slots": told["slots"]}
    with grpc.insecure_channel(lease.executor_endpoint) as machine:
        request = ParseDict(bodies_in_the_page()[1] | own, executor_pb2.RunRequest())
        *_, last = executor_pb2_grpc.ExecutorServiceStub(machine).Run(request, metadata=bearer(lease.executor_token))
    assert last.event.finished.verdict == run_event_pb2.VERDICT_ACCEPTED
    others.pool.RenewLease(vmpool_pb2.RenewLeaseRequest(lease_id=lease.lease_id, duration=Duration(seconds=300)))
    others.pool.ReleaseLease(vmpool_pb2.ReleaseLeaseRequest(lease_id=lease.lease_id))
    settled = others.billing.SettleCharge(
        billing_pb2.SettleChargeRequest(
            hold_id=hold.hold_id, total_time=last.event.finished.billable, gpu_type="MI300X", idempotency_key="end-1"
        )
    )
    assert 0 < settled.charged_micros < hold.amount_micros
    assert others.wavepool.ended(waiting)["verdict"] == "ACCEPTED"


def test_another_service_has_no_part_in_what_is_not_its_own(others: Others) -> None:
    lease, hold = others.lease("job-2"), others.hold("job-2")
    release = vmpool_pb2.ReleaseLeaseRequest(lease_id=lease.lease_id)
    wanted = vmpool_pb2.AcquireLeaseRequest(job_id="job-3", gpu_type="MI300X", eighths=8)
    for_people = vmpool_pb2.AcquireLeaseRequest(holder=vmpool_pb2.LEASE_HOLDER_RESERVATION)
    for_people.MergeFrom(wanted)
    too_large = vmpool_pb2.AcquireLeaseRequest(job_id="job-4", gpu_type="MI300X", eighths=8, gpus=8)
    settle = billing_pb2.SettleChargeRequest(hold_id=hold.hold_id, idempotency_key="end-2")
    for call, message, code in (
        (others.painters_pool.ReleaseLease, release, grpc.StatusCode.NOT_FOUND),
        (
            others.painters_pool.RenewLease,
            vmpool_pb2.RenewLeaseRequest(lease_id=lease.lease_id),
            grpc.StatusCode.NOT_FOUND,
        ),
        (others.painters_pool.ListMachines, vmpool_pb2.ListMachinesRequest(), grpc.StatusCode.PERMISSION_DENIED),
        (others.painters_billing.SettleCharge, settle, grpc.StatusCode.NOT_FOUND),
        (
            others.painters_billing.ReserveCredit,
            billing_pb2.ReserveCreditRequest(account_id=others.account, idempotency_key="1"),
            grpc.StatusCode.PERMISSION_DENIED,
        ),
        (others.pool.AcquireLease, for_people, grpc.StatusCode.INVALID_ARGUMENT),
        (others.pool.AcquireLease, too_large, grpc.StatusCode.INVALID_ARGUMENT),
    ):
        with pytest.raises(grpc.RpcError) as refused:
            call(message)
        assert refused.value.code() is code  # pyright: ignore - grpc's types lack it
    others.pool.ReleaseLease(release)
    others.billing.SettleCharge(settle)
    others.file.unlink()
    with pytest.raises(grpc.RpcError) as refused:
        others.pool.AcquireLease(wanted)
    assert refused.value.code() is grpc.StatusCode.UNAUTHENTICATED  # pyright: ignore - grpc's types lack it


def bodies_in_the_page() -> list[dict[str, Any]]:
    """The requests of docs/protocols.md for a lease and a run."""
    section = (REPOSITORY / "docs" / "protocols.md").read_text().partition("## Other services")[2].partition("\n## ")[0]
    return [json.loads(body) for body in re.findall(r"-d '(\{.*?\})' \\", section, re.DOTALL)]


class SignedBy(grpc.UnaryUnaryClientInterceptor):
    """Adds metadata to each call."""

    def __init__(self, metadata: tuple[Pair, ...]) -> None:
        self._metadata = metadata

    def intercept_unary_unary(self, continuation: Any, client_call_details: Any, request: Any) -> Any:
        return continuation(client_call_details._replace(metadata=self._metadata), request)


@pytest.mark.slow
def test_with_tls_the_certificate_says_who_calls(encrypted: tuple[Wavepool, Path]) -> None:
    wavepool, folder = encrypted
    path, method = METHODS["BillingService/ReserveCredit"]
    claimed = service_credentials(wavepool, "scheduler")
    administrator = bearer((wavepool.data_dir / "token").read_text().strip())
    with with_certificate(wavepool, folder, "billing", "scheduler") as channel:
        assert answer(channel, path, method, claimed)[0] not in REFUSALS
        assert answer(channel, path, method, ())[0] is grpc.StatusCode.UNAUTHENTICATED
    with with_certificate(wavepool, folder, "billing", "vmpool") as channel:
        assert answer(channel, path, method, claimed)[0] is grpc.StatusCode.PERMISSION_DENIED
    with with_certificate(wavepool, folder, "billing", "operator") as channel:
        assert answer(channel, path, method, claimed)[0] is grpc.StatusCode.PERMISSION_DENIED
        assert answer(channel, *METHODS["PriceService/ListPrices"], administrator)[0] is grpc.StatusCode.OK
    with grpc.insecure_channel(target_of(wavepool, "billing")) as channel:
        assert answer(channel, path, method, claimed)[0] is grpc.StatusCode.UNAVAILABLE


@pytest.mark.slow
def test_token_and_certificates_are_changed_while_calls_go_on(encrypted: tuple[Wavepool, Path]) -> None:
    wavepool, folder = encrypted
    file = wavepool.data_dir / "service-token"
    old, new = file.read_text().strip(), "wps_another-token-of-the-services"
    changes: list[Callable[[], object]] = [
        lambda: make(folder, new_authority=True),
        lambda: write_whole(file, f"{new}\n{old}\n".encode()),
        lambda: make(folder),
        lambda: write_whole(file, f"{new}\n".encode()),
    ]
    job = wavepool.submit(kernel("slow_leaky_relu"))
    with wavepool.following(job) as stream:
        assert next(stream)
        for change in changes:
            change()
            for path in ("/api/v1/me", "/api/v1/costs", "/api/v1/machines", f"/api/v1/submissions/{job}"):
                assert wavepool.http.get(path).status_code == 200, path
        assert list(stream)
    assert wavepool.ended(job)["state"] == "FINISHED"
    assert wavepool.ended(wavepool.submit(reference("leaky-relu")))["verdict"] == "ACCEPTED"
    with with_certificate(wavepool, folder, "billing", "gateway") as channel:
        path, method = METHODS["PriceService/ListPrices"]
        assert answer(channel, path, method, bearer(old))[0] is grpc.StatusCode.UNAUTHENTICATED
        assert answer(channel, path, method, bearer(new))[0] is grpc.StatusCode.OK
