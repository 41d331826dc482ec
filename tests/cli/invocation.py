"""Runs the `wavepool` command in this process, as a shell would see it: exit status and both outputs."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import Any
from unittest import mock

from wavepool_client.main import main


@dataclass(frozen=True)
class Run:
    """The result of one run of the command."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def wavepool(*arguments: str, stdin: str = "", environment: Mapping[str, str] | None = None) -> Run:
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch("sys.argv", ["wavepool", *arguments]),
        mock.patch("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin.encode()))),
        mock.patch.dict(os.environ, environment or {}),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
            status = 0
        except SystemExit as ending:
            status = int(ending.code or 0)
    return Run(status, out.getvalue(), err.getvalue())
