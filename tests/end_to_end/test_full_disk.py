"""The disk of a whole Wavepool is filled and freed: callers learn when to retry, and no machine is given up."""

from __future__ import annotations

from pathlib import Path

from tests.end_to_end.wavepool_processes import Wavepool, reference, start, until
from tests.small_disk import small_disk


def machines(wavepool: Wavepool) -> dict[str, str]:
    listed = wavepool.http.get("/api/v1/machines").json()["machines"]
    return {machine["id"]: machine["state"] for machine in listed}


def readiness(wavepool: Wavepool) -> int:
    return wavepool.http.get("/readyz").status_code


def test_a_full_disk_is_a_503_with_a_time_and_everything_goes_on_when_there_is_room(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", size_mib=256) as disk:
        wavepool = start(disk.folder)
        try:
            first = wavepool.ended(wavepool.submit(reference("leaky-relu"), mode="check"))
            assert first["state"] == "FINISHED", first
            before = machines(wavepool)

            disk.fill()
            request = {"problem": "leaky-relu", "code": reference("leaky-relu"), "mode": "check"}
            refused = wavepool.http.post("/api/v1/submissions", json=request)
            assert (refused.status_code, refused.headers.get("retry-after")) == (503, "30"), refused.text
            assert "no room left on its disk" in refused.json()["detail"]
            assert readiness(wavepool) == 503

            disk.free()
            until(lambda: readiness(wavepool) == 200, "readiness")
            again = wavepool.ended(wavepool.submit(reference("leaky-relu"), mode="check"))
            assert (again["state"], again["status"]) == ("FINISHED", first["status"]), again
            assert machines(wavepool).keys() == before.keys(), "a machine was given up for the full disk"
        finally:
            wavepool.stop()
