"""The HTTP interfaces of dstack's two agents on a VM, as the server calls them: the shim and the runner.

The shim keeps tasks (containers), and the runner runs the job in one. The shapes come from dstack's
`server/schemas/runner.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from tests.dstack_lab.guest.job import Job

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

VERSION = "0.22.5"


class Agents:
    """The state that the two share: at most one task, and its job."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._tasks: dict[str, dict[str, Any]] = {}
        self._job: Job | None = None

    def exceed_max_duration(self) -> None:
        """Has the runner end its job as it does after the job's `max_duration`."""
        assert self._job is not None
        self._job.exceed_max_duration()

    def shim(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/api/healthcheck", _answer({"service": "dstack-shim", "version": VERSION})),
                Route("/api/instance/health", _answer({})),
                Route("/api/instance/info", _answer({"gpu_vendor": "amd", "gpu_driver_version": "6.14.14"})),
                Route("/api/components", _answer({"components": []})),
                Route("/api/tasks", self._list_tasks),
                Route("/api/tasks", self._submit_task, methods=["POST"]),
                Route("/api/tasks/{id}", self._get_task),
                Route("/api/tasks/{id}/terminate", self._terminate_task, methods=["POST"]),
                Route("/api/tasks/{id}/remove", self._remove_task, methods=["POST"]),
            ]
        )

    def runner(self) -> Starlette:
        return Starlette(
            routes=[
                Route("/api/healthcheck", _answer({"service": "dstack-runner", "version": VERSION})),
                Route("/api/submit", self._submit_job, methods=["POST"]),
                Route("/api/upload_code", _answer({}), methods=["POST"]),
                Route("/api/upload_archive", _answer({}), methods=["POST"]),
                Route("/api/run", self._run_job, methods=["POST"]),
                Route("/api/pull", self._pull),
                Route("/api/stop", self._stop_job, methods=["POST"]),
            ]
        )

    async def _list_tasks(self, _: Request) -> Response:
        return JSONResponse({"tasks": [{"id": id_, "status": task["status"]} for id_, task in self._tasks.items()]})

    async def _submit_task(self, request: Request) -> Response:
        wanted = await request.json()
        if wanted["id"] in self._tasks:
            return Response("task exists", status_code=409)
        task = {"id": wanted["id"], "status": "running", "termination_reason": "", "termination_message": ""}
        broken = self._folder / "container_error"
        if broken.exists():
            task.update(
                status="terminated",
                termination_reason="creating_container_error",
                termination_message=broken.read_text(encoding="utf-8"),
            )
        self._tasks[wanted["id"]] = task
        self._authorize("host", wanted["host_ssh_keys"])
        self._authorize("container", wanted["container_ssh_keys"])
        return JSONResponse(_task_info(task))

    async def _get_task(self, request: Request) -> Response:
        task = self._tasks.get(request.path_params["id"])
        return JSONResponse(_task_info(task)) if task else Response("no such task", status_code=404)

    async def _terminate_task(self, request: Request) -> Response:
        task = self._tasks.get(request.path_params["id"])
        if task is None:
            return Response("no such task", status_code=404)
        if task["status"] == "running":
            if self._job:
                await self._job.kill()
            why = await request.json()
            task["termination_reason"], task["termination_message"] = (
                why["termination_reason"],
                why["termination_message"],
            )
        task["status"] = "terminated"
        return JSONResponse(_task_info(task))

    async def _remove_task(self, request: Request) -> Response:
        if self._tasks.pop(request.path_params["id"], None) is None:
            return Response("no such task", status_code=404)
        self._job = None
        self._authorize("host", [])
        self._authorize("container", [])
        return JSONResponse({})

    async def _submit_job(self, request: Request) -> Response:
        self._job = Job(await request.json(), self._folder / "home")
        return JSONResponse({})

    async def _run_job(self, _: Request) -> Response:
        if self._job is None:
            return Response("no job was submitted", status_code=409)
        self._job.start()
        return JSONResponse({"working_dir": self._job.working_folder, "username": "root"})

    async def _pull(self, request: Request) -> Response:
        if self._job is None:
            return Response("no job was submitted", status_code=409)
        return JSONResponse(self._job.pull(int(request.query_params["timestamp"])))

    async def _stop_job(self, _: Request) -> Response:
        if self._job:
            self._job.stop()
        return JSONResponse({})

    def _authorize(self, where: str, keys: list[str]) -> None:
        (self._folder / f"{where}_authorized_keys").write_text("\n".join(keys) + "\n", encoding="utf-8")


def _task_info(task: dict[str, Any]) -> dict[str, Any]:
    return {**task, "ports": [], "image_pull_progress": None}


def _answer(content: dict[str, Any]) -> Any:
    async def answer(_: Request) -> Response:
        return JSONResponse(content)

    return answer
