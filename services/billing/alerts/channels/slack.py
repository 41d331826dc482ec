"""Posts each notice to an incoming webhook as Slack defines it, which other chats take too."""

from __future__ import annotations

import json
from collections.abc import Mapping

from services.billing.alerts.channels.channel import Notice, options_of
from services.billing.alerts.channels.http_post import PostOptions, post

_MARKUP = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


class Slack:
    """Sends notices to a chat."""

    def __init__(self, options: PostOptions) -> None:
        self._options = options

    async def send(self, notice: Notice) -> None:
        """Posts the notice; raises ChannelError unless the answer is 2xx."""
        text = f"{notice.title}\nrule {notice.rule}, alert {notice.alert_id}"
        # Without the translation a name such as <!channel> would call everybody.
        await post(self._options, json.dumps({"text": text.translate(_MARKUP)}).encode(), {})


def open_slack(options: Mapping[str, object]) -> Slack:
    """The channel of kind `slack`; raises WrongOptionsError."""
    return Slack(options_of(PostOptions, options))
