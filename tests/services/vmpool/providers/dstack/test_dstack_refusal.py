from __future__ import annotations

import pytest

from services.vmpool.fault import Fault
from services.vmpool.providers.dstack.refusal import refusal

PATH = "/api/project/main/runs/apply"


def reported(code: str, message: str) -> dict[str, object]:
    return {"detail": [{"code": code, "msg": message}]}


@pytest.mark.parametrize(
    ("status", "body", "fault", "said"),
    [
        (403, {"detail": [{"code": "invalid_token", "msg": "Invalid token"}]}, Fault.MISCONFIGURED, "DSTACK_TOKEN"),
        (401, None, Fault.MISCONFIGURED, "DSTACK_TOKEN"),
        (404, {"detail": "Not Found"}, Fault.MISCONFIGURED, "DSTACK_PROJECT"),
        (405, {"detail": "Method Not Allowed"}, Fault.MISCONFIGURED, "DSTACK_SERVER_URL"),
        (422, {"detail": [{"loc": ["body"], "msg": "extra"}]}, Fault.MISCONFIGURED, "same major and minor version"),
        (
            400,
            reported("error", "The client/CLI version (0.23.0) is incompatible with the server version (0.22.5)."),
            Fault.MISCONFIGURED,
            "0.22.5",
        ),
        (400, reported("invalid_credentials", "Invalid credentials"), Fault.MISCONFIGURED, "Invalid credentials"),
        (400, reported("backend_not_available", "Backend not available"), Fault.NO_CAPACITY, "Backend not available"),
        (400, reported("error", "Something else"), Fault.PROVIDER, "Something else"),
        (400, {"detail": {"code": "error", "msg": "One alone"}}, Fault.PROVIDER, "One alone"),
        (418, "no JSON object", Fault.PROVIDER, "it says no more"),
        (400, {"detail": []}, Fault.PROVIDER, "it says no more"),
    ],
)
def test_a_refusal_tells_what_to_do(status: int, body: object, fault: Fault, said: str) -> None:
    refused = refusal(PATH, status, body)
    assert refused.fault is fault
    assert said in str(refused)
    assert PATH in str(refused)


@pytest.mark.parametrize(
    "message",
    [
        "Failed to delete fleet wavepool instances [0]. Fleet instances are in use.",
        "Cannot override active run. Stop the run first.",
        "Failed to delete fleet instances: fleets are being processed currently. Try again later.",
        "Failed to delete instance while the job is provisioning.",
        "Failed to apply plan. Resource has been changed. Try again or use force apply.",
    ],
)
def test_what_is_in_use_now_may_be_asked_again(message: str) -> None:
    assert refusal(PATH, 400, reported("error", message)).is_busy


def test_what_does_not_exist_is_distinguished() -> None:
    assert refusal(PATH, 400, reported("resource_not_exists", "Run not found")).is_not_found
    assert not refusal(PATH, 400, reported("error", "Something else")).is_not_found
    assert not refusal(PATH, 400, reported("error", "Something else")).is_busy
