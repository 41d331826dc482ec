"""Billing, running with an alert channel that others wrote, built and installed."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from wavepool.billing.v1.alerts_pb2 import TestAlertChannelRequest

from servicekit.settings.plugins import BrokenPluginError
from services.billing.alerts.channels.plugins import lives_of, open_channels
