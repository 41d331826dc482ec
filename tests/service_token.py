"""The token of services that tests start in different data folders, and would otherwise not know each other."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from pathlib import Path

from servicekit.service_token import service_token_of

_FOLDER = Path(tempfile.mkdtemp(prefix="wavepool-test-token-"))
atexit.register(shutil.rmtree, _FOLDER, ignore_errors=True)
SERVICE_TOKEN = service_token_of(_FOLDER)
TOKEN_SETTING = {"WAVEPOOL_SERVICE_TOKEN_FILE": str(SERVICE_TOKEN.file)}
