"""Each channel against a real server."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
import socket
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from servicekit.settings.config import WrongSettingsError
from services.billing.alert_rules.rule import Severity
from services.billing.alerts.channels.channel import ChannelError, Notice
from services.billing.alerts.channels.plugins import open_channels
from tests.services.billing.alerts.mail_server import LOGIN, certificate, mail_server
from tests.services.billing.alerts.web_receiver import WebReceiver, web_receiver

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from services.billing.alerts.channels.channel import Channel

NOTICE = Notice(
    notice_id="altr_1",
    alert_id="alert_1",
    event="fired",
    rule="account-credit-spent-80",
    severity=Severity.WARNING,
    summary="ada has spent $8.00 of <!channel> & co.",
    value=0.8,
    time=datetime(2026, 1, 1, tzinfo=UTC),
    labels={"account": "acct_1"},
)


@pytest.fixture
def web() -> Iterator[WebReceiver]:
    with web_receiver() as receiver:
        yield receiver


def channel(kind: str, **options: Any) -> Channel:
    return open_channels([{"name": "ops", "kind": kind, **options}])["ops"].channel


async def failure(tried: Channel) -> str:
    with pytest.raises(ChannelError) as error:
        await tried.send(NOTICE)
    return str(error.value)


async def test_a_webhook_posts_the_notice_as_json_under_its_id(web: WebReceiver) -> None:
    await channel("webhook", url=f"{web.url}/hook").send(NOTICE)
    (posted,) = web.posted
    assert (posted.path, posted.headers["Content-Type"]) == ("/hook", "application/json")
    assert posted.headers["Idempotency-Key"] == "altr_1"
    assert "Wavepool-Signature" not in posted.headers
    assert json.loads(posted.body) == {
        "id": "altr_1",
        "alert_id": "alert_1",
        "event": "fired",
        "rule": "account-credit-spent-80",
        "severity": "WARNING",
        "summary": "ada has spent $8.00 of <!channel> & co.",
        "value": 0.8,
        "labels": {"account": "acct_1"},
        "time": "2026-01-01T00:00:00+00:00",
    }


@pytest.mark.parametrize("from_file", [False, True])
async def test_a_webhook_with_a_secret_signs_time_and_body(web: WebReceiver, tmp_path: Path, from_file: bool) -> None:
    (tmp_path / "secret").write_text("hush\n")
    options = {"secret_file": str(tmp_path / "secret")} if from_file else {"secret": "hush"}
    await channel("webhook", url=web.url, **options).send(NOTICE)
    (posted,) = web.posted
    given = dict(part.split("=") for part in posted.headers["Wavepool-Signature"].split(","))
    expected = hmac.new(b"hush", given["t"].encode() + b"." + posted.body, hashlib.sha256).hexdigest()
    assert given["v1"] == expected
    assert abs(int(given["t"]) - datetime.now(UTC).timestamp()) < 60


async def test_slack_gets_text_whose_markup_calls_nobody(web: WebReceiver) -> None:
    await channel("slack", url=f"{web.url}/services/T0/B0/hush").send(NOTICE)
    assert json.loads(web.posted[0].body) == {
        "text": "[FIRED] WARNING: ada has spent $8.00 of &lt;!channel&gt; &amp; co.\n"
        "rule account-credit-spent-80, alert alert_1"
    }


@pytest.mark.parametrize("status", [400, 404, 429, 500, 503])
async def test_an_answer_that_is_no_success_is_a_failure(web: WebReceiver, status: int) -> None:
    web.statuses = [status]
    assert await failure(channel("webhook", url=web.url)) == f"it answered HTTP {status}"


async def test_a_redirect_is_not_followed(web: WebReceiver) -> None:
    web.statuses = [307]
    assert await failure(channel("webhook", url=web.url)) == "it answered HTTP 307, and redirects are not followed"
    assert len(web.posted) == 1


async def test_a_receiver_that_does_not_answer_is_given_up_in_time(web: WebReceiver) -> None:
    web.is_silent = True
    assert await failure(channel("webhook", url=web.url, timeout_seconds=0.2)) == "no answer within 0.2 s"


async def test_a_receiver_that_is_not_there_is_a_failure_that_tells_no_address() -> None:
    said = await failure(channel("slack", url=f"http://127.0.0.1:{unused_port()}/hush"))
    assert said == "it cannot be reached (ConnectError)"


async def test_no_address_is_logged(web: WebReceiver, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    await channel("slack", url=f"{web.url}/hush").send(NOTICE)
    assert caplog.text == ""


async def test_the_log_is_as_loud_as_the_alert(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    await channel("log").send(NOTICE)
    (record,) = caplog.records
    assert (record.levelname, record.getMessage()) == ("WARNING", f"alert: [FIRED] WARNING: {NOTICE.summary}")


MAIL = {"host": "127.0.0.1", "from": "wavepool@example.org", "to": ["ops@example.org", "boss@example.org"]}


async def test_a_mail_says_what_happened_and_has_the_notices_id() -> None:
    with mail_server() as server:
        await channel("email", **MAIL, port=server.port, tls="off").send(NOTICE)
    (mail,) = server.mails
    assert mail["Subject"] == f"[FIRED] WARNING: {NOTICE.summary}"
    assert (mail["From"], mail["To"]) == ("wavepool@example.org", "ops@example.org, boss@example.org")
    assert mail["Message-ID"] == "<altr_1@example.org>"
    body = mail.get_content().replace("\r\n", "\n")
    assert body.startswith(f"{NOTICE.summary}\n\nevent: fired\n")
    assert "labels: account=acct_1\n" in body


async def test_a_mail_goes_encrypted_and_with_a_login(tmp_path: Path) -> None:
    context, authority = certificate(tmp_path)
    user, password = LOGIN
    (tmp_path / "password").write_text(password)
    options = {"user": user, "password_file": str(tmp_path / "password"), "ca_file": str(authority)}
    with mail_server(context, needs_login=True) as server:
        await channel("email", **MAIL, port=server.port, **options).send(NOTICE)
    assert server.was_encrypted == [True]


async def test_a_wrong_password_is_a_failure_that_does_not_tell_it(tmp_path: Path) -> None:
    context, authority = certificate(tmp_path)
    options = {"user": "billing", "password": "wrong-hush", "ca_file": str(authority)}
    with mail_server(context, needs_login=True) as server:
        said = await failure(channel("email", **MAIL, port=server.port, **options))
    assert said == "the server answered 535 (SMTPAuthenticationError)"


async def test_a_server_whose_certificate_nobody_vouches_for_gets_no_mail(tmp_path: Path) -> None:
    context, _ = certificate(tmp_path)
    with mail_server(context) as server:
        said = await failure(channel("email", **MAIL, port=server.port))
    assert (said, server.mails) == ("the server cannot be used (SSLCertVerificationError)", [])


async def test_a_server_without_tls_gets_no_mail_unless_tls_is_off() -> None:
    with mail_server() as server:
        said = await failure(channel("email", **MAIL, port=server.port))
    assert (said, server.mails) == ("the server cannot be used (SMTPNotSupportedError)", [])


async def test_a_server_that_refuses_the_mail_or_every_recipient_is_a_failure() -> None:
    with mail_server() as server:
        tried = channel("email", **MAIL, port=server.port, tls="off")
        server.refuses_data = "451 later"
        assert await failure(tried) == "the server answered 451 (SMTPDataError)"
        server.refused = dict.fromkeys(("ops@example.org", "boss@example.org"), "550 no such user")
        assert await failure(tried) == "the server refuses every recipient ([550])"


async def test_a_mail_that_one_recipient_gets_is_not_sent_again(caplog: pytest.LogCaptureFixture) -> None:
    with mail_server() as server:
        server.refused = {"boss@example.org": "550 no such user"}
        await channel("email", **MAIL, port=server.port, tls="off").send(NOTICE)
    assert len(server.mails) == 1
    assert "refuses some recipients" in caplog.text


async def test_a_mail_server_that_does_not_answer_is_given_up_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        tried = channel("email", **MAIL, port=silent.getsockname()[1], tls="off", timeout_seconds=0.2)
        assert await failure(tried) in {"no answer within 0.2 s", "the server cannot be used (TimeoutError)"}


async def test_a_mail_server_that_is_not_there_is_a_failure() -> None:
    said = await failure(channel("email", **MAIL, port=unused_port(), tls="off"))
    assert said == "the server cannot be used (ConnectionRefusedError)"


def unused_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


HTTPS = "https://hooks.example/hush"


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "entry 0: name: must be"),
        ({"name": "ops"}, "entry 0 (ops): kind: '' is not known here; known are email, log, slack, webhook"),
        ({"name": "ops", "kind": "pager"}, "entry 0 (ops): kind: 'pager' is not known here"),
        ({"name": "ops", "kind": "log", "least_severity": "LOUD"}, "entry 0 (ops): least_severity: must be one of"),
        ({"name": "ops", "kind": "log", "url": HTTPS}, "entry 0 (ops): url: Extra inputs are not permitted"),
        ({"name": "ops", "kind": "slack"}, "entry 0 (ops): url: Field required"),
        ({"name": "ops", "kind": "slack", "url": "hush"}, "entry 0 (ops): url: must be a URL that begins with https"),
        ({"name": "ops", "kind": "slack", "url": "ftp://x/hush"}, "entry 0 (ops): url: must be a URL that begins"),
        ({"name": "ops", "kind": "slack", "url": "http://x/hush"}, "entry 0 (ops): url: must begin with https"),
        ({"name": "ops", "kind": "webhook", "url": HTTPS, "secret_file": "/no"}, "entry 0 (ops): secret: the file /no"),
        ({"name": "ops", "kind": "email", **MAIL, "tls": "off", "host": "x"}, 'entry 0 (ops): tls: may be "off" only'),
        ({"name": "ops", "kind": "email", **MAIL, "to": ["hush"]}, "entry 0 (ops): to.0: must be an e-mail address"),
        ({"name": "ops", "kind": "email", **MAIL, "user": "hush"}, "entry 0 (ops): user: give the user and the"),
        ({"name": "ops", "kind": "email", **MAIL, "ca_file": "/no"}, "entry 0 (ops): ca_file: the file /no has no"),
    ],
)
def test_a_wrong_channel_is_refused_with_entry_option_and_fix_and_without_secrets(
    entry: dict[str, Any], said: str
) -> None:
    with pytest.raises(WrongSettingsError) as error:
        open_channels([entry])
    assert str(error.value).startswith(f"BILLING_ALERT_CHANNELS: {said}")
    assert "hush" not in str(error.value)


def test_two_channels_of_one_name_are_refused() -> None:
    with pytest.raises(WrongSettingsError, match="entry 1: name: there are two channels 'ops'"):
        open_channels([{"name": "ops", "kind": "log"}] * 2)


def test_http_to_another_host_is_allowed_where_the_operator_says_so() -> None:
    assert channel("webhook", url="http://alerts.internal/x", allow_http=True)
