"""The web page, and the documentation of the interface as a page that needs no other host."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

from fastapi import APIRouter
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

PAGES = {"/": "index.html", "/api/docs": "docs.html"}


class Assets(StaticFiles):
    """Static files that browsers revalidate each time, so that a new version shows at once."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """The file, or 304."""
        response = await super().get_response(path, scope)
        response.headers["Cache-Control"] = "no-cache"
        return response


def pages(web_dir: Path) -> APIRouter:
    """Routes for the pages of a folder, and for the files that they load."""
    router = APIRouter(include_in_schema=False)
    for path, name in PAGES.items():
        router.add_api_route(path, _page(web_dir / name), methods=["GET", "HEAD"])
    router.mount("/assets", Assets(directory=web_dir), name="assets")
    return router


def _page(file: Path) -> Callable[[], Awaitable[FileResponse]]:
    async def page() -> FileResponse:
        return FileResponse(file, headers={"Cache-Control": "no-cache"})

    return page
