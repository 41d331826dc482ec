"""The application of `web/`: its built files, and the addresses that are pages of it."""

from __future__ import annotations

import json
import os
from http import HTTPStatus
from pathlib import Path

from fastapi import FastAPI
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Match, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from gateway.config import ADDRESSES

APPLICATION = "index.html"
ENCODINGS = {"br": ".br", "gzip": ".gz"}
"""The suffixes of the compressed files that the build leaves beside each file, by encoding, the smallest first."""
# The name of an asset changes with its content.
CACHE_FOR_EVER = "public, max-age=31536000, immutable"
ASK_AGAIN = "no-cache"


class BuiltFiles(StaticFiles):
    """Files of a folder, each in the smallest encoding that the browser takes."""

    def __init__(self, directory: Path, cache_control: str) -> None:
        super().__init__(directory=directory)
        self._cache_control = cache_control

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        """The file, or 304."""
        accepted = _encodings(Headers(scope=scope).get("accept-encoding", ""))
        encoding = next((name for name in ENCODINGS if name in accepted), "")
        if encoding:
            full_path = f"{full_path}{ENCODINGS[encoding]}"
            stat_result = Path(full_path).stat()
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers.update({"Cache-Control": self._cache_control, "Vary": "Accept-Encoding"})
        if encoding:
            response.headers["Content-Encoding"] = encoding
        return response


class UnknownPage(Route):
    """Whatever else a browser asks for as a page; the application says there that it has none."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """A match if a person asks; programs get a problem document, and never HTML below `/api/`."""
        is_page = scope["type"] == "http" and not scope["path"].startswith(("/api/", "/assets/"))
        if is_page and scope["method"] in {"GET", "HEAD"} and "text/html" in Headers(scope=scope).get("accept", ""):
            return Match.FULL, {"endpoint": self.endpoint, "path_params": {}}
        return Match.NONE, {}


def serve_pages(app: FastAPI, built: Path) -> None:
    """Adds the application's pages and files. To be called when all other routes are there."""
    documents = BuiltFiles(built, ASK_AGAIN)

    async def page(request: Request) -> Response:
        return await documents.get_response(APPLICATION, request.scope)

    async def unknown_page(request: Request) -> Response:
        response = await documents.get_response(APPLICATION, request.scope)
        # A browser that has the application is not to take this for a page that is there.
        response.status_code = HTTPStatus.NOT_FOUND
        return response

    for address in json.loads((built / ADDRESSES).read_text("utf-8")):
        app.router.routes.append(Route(_template(address), page, methods=["GET"], include_in_schema=False))
    app.mount("/assets", BuiltFiles(built / "assets", CACHE_FOR_EVER), name="assets")
    app.router.routes.append(UnknownPage("/unknown", unknown_page, methods=["GET"], include_in_schema=False))


def _template(address: str) -> str:
    parts = (f"{{{part[1:]}}}" if part.startswith(":") else part for part in address.split("/"))
    return "/".join(parts)


def _encodings(header: str) -> set[str]:
    """The encodings that Accept-Encoding names, without those that it forbids."""
    offers = (offer.partition(";") for offer in header.lower().split(","))
    return {name.strip() for name, _, weight in offers if weight.strip() not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}}
