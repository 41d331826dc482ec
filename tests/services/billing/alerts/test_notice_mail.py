"""Mails to users about ends: from the settlement to a real mail server, on real databases."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from email.message import EmailMessage
from itertools import count

import pytest
from sqlalchemy import func, select, update

from servicekit.clock import ManualClock, new_id
from servicekit.db.database import Database
from services.billing.alerts.channels.mail import open_server
from services.billing.alerts.delivery import CLAIM
from services.billing.alerts.notice_mail import delivery_of
from services.billing.errors import HoldSettledError
from services.billing.identity.rights import Role
from services.billing.identity.user import Notify, User
from services.billing.ledger.end_notice import EndNotice
from services.billing.ledger.holds import Purpose
from services.billing.service.billing_service import Stores
from services.billing.store.delivery_store import Outcome
from services.billing.store.end_notice_store import KEPT, RETRY, EndNoticeStore
from services.billing.store.journal import Journal
from services.billing.store.ledger_store import LedgerStore
from services.billing.store.tables import end_notices, users
from tests.services.billing.alerts.conftest import START
from tests.services.billing.alerts.mail_server import MailServer, mail_server

WRONG = EndNotice("submission", "my relu", "WRONG_ANSWER", well=False)
RIGHT = EndNotice("submission", "my relu", "ACCEPTED", well=True, message="All 5 cases are right.")


@dataclass
class Post:
    """Billing with a mail server, and a clock that the test moves."""

    db: Database
    stores: Stores
    clock: ManualClock
    server: MailServer
    most_a_day: int = 200

    def __post_init__(self) -> None:
        self.notices = EndNoticeStore(self.db, self.clock, self.most_a_day)
        self.ledger = LedgerStore(self.db, Journal(self.db, self.clock), self.clock, new_id, notices=self.notices)
        smtp = open_server({"host": "127.0.0.1", "port": self.server.port, "tls": "off", "from": "wp@example.org"})
        self.delivery = delivery_of(smtp, self.notices, self.clock)
        self.numbers = count(1)

    async def person(self, notify: Notify, name: str = "ada") -> User:
        user = await self.stores.users.create(name, email=f"{name}@example.org")
        await self.ledger.grant(user.account_id, 1_000_000, f"grant:{name}", "")
        return await self.stores.users.set_notify(user.user_id, notify)

    async def end(self, user: User, notice: EndNotice | None, problem: str = "relu") -> str:
        """Holds and settles 250 of 900 micro-dollars for work of the user's; gives the hold."""
        key = f"job_{next(self.numbers)}"
        purpose = Purpose(key, user.user_id, problem=problem)
        held = await self.ledger.hold(user.account_id, 900, key, "", purpose=purpose)
        await self.ledger.settle(held.hold_id, 250, f"{key}:1", "", notice=notice)
        return held.hold_id

    async def mails(self) -> list[EmailMessage]:
        await self.delivery.run_once()
        return self.server.mails

    async def rows(self) -> list[tuple[str, int, str]]:
        columns = end_notices.c.outcome, end_notices.c.attempts, end_notices.c.failure
        async with self.db.reading() as connection:
            found = await connection.execute(select(*columns).order_by(end_notices.c.create_time))
            return [tuple(row) for row in found]


@pytest.fixture
def server() -> Iterator[MailServer]:
    with mail_server() as server:
        yield server


@pytest.fixture
def post(db: Database, stores: Stores, clock: ManualClock, server: MailServer) -> Post:
    return Post(db, stores, clock, server)


async def test_the_end_of_a_submission_is_mailed_with_its_verdict_its_cost_and_how_to_see_more(post: Post) -> None:
    ada = await post.person(Notify.ALWAYS)
    key, purpose = "job_7", Purpose("job_7", ada.user_id, problem="relu")
    held = await post.ledger.hold(ada.account_id, 900, key, "", purpose=purpose)
    billable = timedelta(seconds=12.34), "MI300X"
    await post.ledger.settle(held.hold_id, 250, "job_7:1", "", billable=billable, notice=RIGHT)
    (mail,) = await post.mails()
    assert (mail["From"], mail["To"]) == ("wp@example.org", "ada@example.org")
    assert mail["Subject"] == "[Wavepool] my relu: ACCEPTED"
    assert mail["Message-ID"] == f"<{held.hold_id}@example.org>"
    assert mail["Auto-Submitted"] == "auto-generated"
    assert mail.get_content().replace("\r\n", "\n").splitlines() == [
        "The submission job_7 has ended: ACCEPTED.",
        "All 5 cases are right.",
        "",
        "name: my relu",
        "problem: relu",
        "charged time: 12.3 s",
        "cost: $0.00025",
        f"end: {START:%Y-%m-%d %H:%M:%S} UTC",
        "",
        "`wavepool show job_7` shows the rest.",
        "`wavepool notices never` ends these mails.",
    ]


async def test_a_reservations_mail_names_its_command_and_what_is_paid_in_the_end(post: Post) -> None:
    ada = await post.person(Notify.ALWAYS)
    notice = EndNotice("reservation", "", "FAILED", well=False, message="Lost.\nMore.", most_micros=100)
    await post.end(ada, notice, problem="")
    (mail,) = await post.mails()
    assert mail["Subject"] == "[Wavepool] job_1: FAILED"
    text = mail.get_content().replace("\r\n", "\n")
    assert "The reservation job_1 has ended: FAILED.\nLost.\n\ncharged time: 0.0 s\ncost: $0.0001\n" in text
    assert "`wavepool reservations show job_1`" in text
    assert "More" not in text


@pytest.mark.parametrize(
    ("notify", "mailed"),
    [(Notify.NEVER, []), (Notify.FAILED, ["WRONG_ANSWER"]), (Notify.ALWAYS, ["ACCEPTED", "WRONG_ANSWER"])],
)
async def test_a_user_gets_the_mails_that_they_chose(post: Post, notify: Notify, mailed: list[str]) -> None:
    ada = await post.person(notify)
    await post.end(ada, RIGHT)
    await post.end(ada, WRONG)
    await post.end(ada, None)
    assert sorted(str(mail["Subject"]).rpartition(": ")[2] for mail in await post.mails()) == mailed


async def test_only_the_user_of_the_hold_is_mailed_whoevers_account_pays(post: Post) -> None:
    ada, bob = await post.person(Notify.ALWAYS), await post.person(Notify.ALWAYS, "bob")
    await post.end(replace(bob, account_id=ada.account_id), WRONG)
    await post.end(replace(ada, user_id=""), WRONG)
    assert [mail["To"] for mail in await post.mails()] == ["bob@example.org"]


async def test_a_repeated_settlement_makes_no_second_mail_and_a_refused_one_none(post: Post) -> None:
    ada = await post.person(Notify.ALWAYS)
    hold_id = await post.end(ada, RIGHT)
    again = await post.ledger.settle(hold_id, 250, "job_1:1", "", notice=RIGHT)
    assert again.repeated
    with pytest.raises(HoldSettledError):
        await post.ledger.settle(hold_id, 251, "job_1:1", "", notice=WRONG)
    assert len(await post.mails()) == 1
    await post.ledger.settle(hold_id, 250, "job_1:1", "", notice=RIGHT)
    assert len(await post.mails()) == 1


async def test_settlements_that_race_make_one_mail(post: Post) -> None:
    ada = await post.person(Notify.ALWAYS)
    held = await post.ledger.hold(ada.account_id, 900, "job_1", "", purpose=Purpose("job_1", ada.user_id))
    tries = (post.ledger.settle(held.hold_id, 250, "job_1:1", "", notice=RIGHT) for _ in range(5))
    receipts = await asyncio.gather(*tries)
    assert sum(not receipt.repeated for receipt in receipts) == 1
    assert len(await post.mails()) == 1


@pytest.mark.parametrize(
    "name", ["x\r\nBcc: eve@example.org", "x\n\nbody", "a\0b", "x\u2028Bcc: eve@example.org", "ж" * 400]
)
async def test_a_name_adds_no_header_and_no_line(post: Post, name: str) -> None:
    ada = await post.person(Notify.ALWAYS)
    await post.end(
        ada,
        replace(WRONG, name=name, status="WRONG\r\nCc: eve@example.org", message=name),
        problem=name[:9].replace("\0", ""),
    )
    (mail,) = await post.mails()
    assert (mail["Bcc"], mail["Cc"], mail["To"]) == (None, None, "ada@example.org")
    assert str(mail["Subject"]).isprintable()
    assert str(mail["Subject"]).startswith("[Wavepool] ")
    assert "Bcc:" not in [line[:4] for line in mail.get_content().splitlines()]
    assert mail.get_content().startswith("The submission job_1 has ended: WRONGCc: eve@example.org.")


async def test_a_mail_that_the_server_refuses_is_sent_again_under_its_id_and_given_up_in_the_end(
    post: Post, server: MailServer, caplog: pytest.LogCaptureFixture
) -> None:
    ada = await post.person(Notify.ALWAYS)
    server.refuses_data = "451 later"
    await post.end(ada, WRONG)
    assert await post.mails() == []
    failure = "the server answered 451 (SMTPDataError)"
    assert await post.rows() == [(Outcome.WAITING.value, 1, failure)]
    server.refuses_data = ""
    post.clock.advance(timedelta(seconds=5))
    (mail,) = await post.mails()
    assert await post.rows() == [(Outcome.DELIVERED.value, 2, "")]
    server.refused[str(mail["To"])] = "550 no such mailbox"
    await post.end(ada, WRONG)
    for _ in range(3):
        await post.mails()
        post.clock.advance(RETRY / 2)
    assert (await post.rows())[1] == (Outcome.FAILED.value, 3, "the server refuses every recipient ([550])")
    assert "gave up sending a message" in caplog.text
    assert "ada@example.org" not in caplog.text
    assert len(server.mails) == 1


async def test_a_user_who_becomes_a_program_is_not_mailed(post: Post, stores: Stores) -> None:
    ada = await post.person(Notify.ALWAYS)
    await post.end(ada, WRONG)
    await stores.users.update(ada.user_id, role=Role.SERVICE)
    await post.end(ada, WRONG)
    assert await post.mails() == []
    assert len(await post.rows()) == 1


async def test_what_was_not_wanted_for_hours_is_not_mailed_later(post: Post, stores: Stores) -> None:
    ada = await post.person(Notify.ALWAYS)
    await post.end(ada, WRONG)
    await stores.users.set_notify(ada.user_id, Notify.NEVER)
    assert await post.mails() == []
    post.clock.advance(RETRY + timedelta(hours=1))
    await stores.users.set_notify(ada.user_id, Notify.ALWAYS)
    assert await post.mails() == []
    await post.end(ada, RIGHT)
    assert len(await post.mails()) == 1


async def test_a_mail_of_a_process_that_was_killed_while_it_sent_is_sent_when_its_claim_has_run_out(post: Post) -> None:
    ada = await post.person(Notify.ALWAYS)
    await post.end(ada, WRONG)
    assert await post.notices.next_due(post.clock.now(), post.clock.now() + CLAIM)
    assert await post.mails() == []
    post.clock.advance(CLAIM)
    assert len(await post.mails()) == 1


async def test_processes_that_send_at_once_send_each_mail_once(
    post: Post, db: Database, stores: Stores, clock: ManualClock, server: MailServer
) -> None:
    ada = await post.person(Notify.ALWAYS)
    for _ in range(6):
        await post.end(ada, WRONG)
    posts = [post, *(Post(db, stores, clock, server) for _ in range(2))]
    await asyncio.gather(*(one.delivery.run_once() for one in posts))
    ids = [mail["Message-ID"] for mail in await post.mails()]
    assert len(ids) == len(set(ids)) == 6


async def test_a_user_gets_so_many_mails_a_day_and_the_last_one_says_so(
    db: Database, stores: Stores, clock: ManualClock, server: MailServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    post = Post(db, stores, clock, server, most_a_day=2)
    ada, bob = await post.person(Notify.ALWAYS), await post.person(Notify.ALWAYS, "bob")
    for _ in range(3):
        await post.end(ada, WRONG)
    await post.end(bob, WRONG)
    last = [mail["To"] for mail in await post.mails() if "no further ends are mailed" in mail.get_content()]
    assert last == ["ada@example.org"]
    assert sorted(str(mail["To"]) for mail in server.mails) == ["ada@example.org"] * 2 + ["bob@example.org"]
    assert "a user has had the most mails of a day" in caplog.text
    clock.advance(timedelta(days=1))
    await post.end(ada, WRONG)
    assert len(await post.mails()) == 4


@pytest.mark.parametrize("change", [{"notify": "never"}, {"email": ""}, {"disable_time": START}])
async def test_who_wants_no_more_mails_has_no_address_or_is_disabled_gets_none_that_waits(
    post: Post, change: dict[str, object]
) -> None:
    ada = await post.person(Notify.ALWAYS)
    await post.end(ada, WRONG)
    async with post.db.transaction() as connection:
        await connection.execute(update(users).values(change))
    assert await post.mails() == []


async def test_a_mail_goes_to_the_address_that_the_user_has_when_it_is_sent(post: Post) -> None:
    ada = await post.person(Notify.ALWAYS)
    await post.end(ada, WRONG)
    await post.stores.users.update("ada", email="ada@new.example.org")
    assert [mail["To"] for mail in await post.mails()] == ["ada@new.example.org"]


async def test_an_address_that_no_mail_can_have_is_given_up_and_holds_up_no_other(post: Post) -> None:
    ada, bob = await post.person(Notify.ALWAYS), await post.person(Notify.ALWAYS, "bob")
    await post.stores.users.update("ada", email="ada,eve@example.org")
    await post.end(ada, WRONG)
    await post.end(bob, WRONG)
    assert [mail["To"] for mail in await post.mails()] == ["bob@example.org"]
    assert "unexpected way" in (await post.rows())[0][2]


async def test_rows_are_removed_after_some_days(post: Post) -> None:
    ada = await post.person(Notify.ALWAYS)
    await post.end(ada, WRONG)
    post.clock.advance(timedelta(days=1))
    await post.end(ada, WRONG)
    post.clock.advance(KEPT - timedelta(hours=1))
    await post.notices.run_once()
    async with post.db.reading() as connection:
        assert await connection.scalar(select(func.count()).select_from(end_notices)) == 1


async def test_without_a_mail_server_nothing_is_written(post: Post) -> None:
    ada = await post.person(Notify.ALWAYS)
    held = await post.stores.ledger.hold(ada.account_id, 900, "job_1", "", purpose=Purpose("job_1", ada.user_id))
    await post.stores.ledger.settle(held.hold_id, 250, "job_1:1", "", notice=RIGHT)
    assert await post.rows() == []
