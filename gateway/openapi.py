"""Prints the gateway's OpenAPI document, without any service: `python -m gateway.openapi`."""

from __future__ import annotations

import json
import sys

from gateway.app import create_app
from gateway.config import GatewaySettings

if __name__ == "__main__":
    json.dump(create_app(GatewaySettings()).openapi(), sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")
