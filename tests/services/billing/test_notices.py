"""When users are mailed about ends: who may choose it, what it needs, and databases from before."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import grpc
import pytest
from pydantic import SecretStr
from sqlalchemy import text
from wavepool.billing.v1 import billing_pb2
from wavepool.billing.v1 import identity_pb2 as pb

from servicekit.db import database
from servicekit.settings.config import WrongSettingsError
from services.billing.alerts.notice_mail import open_notice_mail
from services.billing.config import BillingSettings
from services.billing.errors import InvalidFieldError
from services.billing.identity.rights import Role, Scope
from services.billing.identity.team import MemberLevel
from services.billing.identity.user import Notify, ProfileVisibility
from services.billing.service.billing_service import Stores
from services.billing.store.tables import end_notices
from services.billing.wire.billing import notice_from_proto
from tests.services.billing.test_keys import failure

if TYPE_CHECKING:
    from wavepool.billing.v1.billing_pb2_grpc import BillingServiceAsyncStub
    from wavepool.billing.v1.identity_pb2_grpc import IdentityServiceAsyncStub

SERVER = '{"host": "127.0.0.1", "tls": "off", "from": "wp@example.org"}'
DENIED, LACKING = grpc.StatusCode.PERMISSION_DENIED, grpc.StatusCode.FAILED_PRECONDITION


@pytest.fixture
def settings(tmp_path: Path, database_url: str) -> BillingSettings:
    server = SecretStr(SERVER)
    return BillingSettings(port=0, data_dir=tmp_path / "data", database_url=database_url, notice_mail=server)


@pytest.fixture
async def tokens(stores: Stores) -> dict[str, str]:
    """Ids of tokens by the names of their users; `team` charges a team of ada's, and `reader` is ada's."""
    made: dict[str, str] = {}
    for name, role in {"admin": Role.ADMIN, "ada": Role.USER, "bob": Role.USER, "ci": Role.SERVICE}.items():
        user = await stores.users.create(name, role, "" if name == "bob" else f"{name}@example.org")
        made[name] = (await stores.tokens.create(user.user_id, "t"))[0].token_id
    ada, team = await stores.users.get("ada"), await stores.teams.create("compilers")
    await stores.teams.add_member(team.team_id, ada.user_id, MemberLevel.MEMBER)
    shared, _ = await stores.tokens.create(ada.user_id, "t", account_id=team.account_id)
    reader, _ = await stores.tokens.create(ada.user_id, "t", scopes=frozenset({Scope.READ}))
    return {**made, "team": shared.token_id, "reader": reader.token_id}


async def chosen(
    identity: IdentityServiceAsyncStub, token: str, notify: pb.Notify.ValueType, user: str = ""
) -> pb.Notices:
    request = pb.SetNoticesRequest(caller_token_id=token, user=user, notify=notify)
    return (await identity.SetNotices(request)).notices


async def shown(identity: IdentityServiceAsyncStub, token: str, user: str = "") -> pb.Notices:
    return (await identity.GetNotices(pb.GetNoticesRequest(caller_token_id=token, user=user))).notices


async def test_a_user_sees_and_chooses_when_to_be_mailed(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str]
) -> None:
    before = pb.Notices(notify=pb.NOTIFY_NEVER, email="ada@example.org", available=True)
    assert await shown(identity, tokens["reader"]) == before
    after = await chosen(identity, tokens["ada"], pb.NOTIFY_FAILED)
    assert after == pb.Notices(notify=pb.NOTIFY_FAILED, email="ada@example.org", available=True)
    assert await shown(identity, tokens["ada"], "ada") == after
    assert (await shown(identity, tokens["admin"])).notify == pb.NOTIFY_NEVER


async def test_administrators_see_and_choose_for_others_and_nobody_else_does(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str]
) -> None:
    assert (await chosen(identity, tokens["admin"], pb.NOTIFY_ALWAYS, "ada")).email == "ada@example.org"
    assert (await shown(identity, tokens["admin"], "ada")).notify == pb.NOTIFY_ALWAYS
    assert (await failure(chosen(identity, tokens["bob"], pb.NOTIFY_NEVER, "ada"))).code is DENIED
    assert (await failure(shown(identity, tokens["bob"], "ada"))).code is DENIED
    missing = await failure(chosen(identity, tokens["admin"], pb.NOTIFY_NEVER, "eve"))
    assert missing.code is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("reader", "needs the scope 'manage'"),
        ("team", "charges a team. Mails about ends are for a token that charges your own account"),
        ("ci", "'manage'"),
    ],
)
async def test_narrow_and_shared_tokens_and_programs_choose_nothing(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str], token: str, said: str
) -> None:
    refused = await failure(chosen(identity, tokens[token], pb.NOTIFY_ALWAYS))
    assert (refused.code, said in refused.message) == (DENIED, True), refused.message


async def test_a_program_is_not_mailed_whoever_asks(identity: IdentityServiceAsyncStub, tokens: dict[str, str]) -> None:
    refused = await failure(chosen(identity, tokens["admin"], pb.NOTIFY_ALWAYS, "ci"))
    assert (refused.code, "Only people are mailed" in refused.message) == (DENIED, True)
    assert (await chosen(identity, tokens["admin"], pb.NOTIFY_NEVER, "ci")).notify == pb.NOTIFY_NEVER


async def test_a_user_without_an_address_is_sent_to_get_one_and_may_still_choose_never(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str], stores: Stores
) -> None:
    for email in ("", "bob,eve@example.org"):
        await stores.users.update("bob", email=email)
        refused = await failure(chosen(identity, tokens["bob"], pb.NOTIFY_ALWAYS))
        assert refused.code is LACKING
        assert "`wavepool users change bob --email ADDRESS`" in refused.message
    assert (await chosen(identity, tokens["bob"], pb.NOTIFY_NEVER)).notify == pb.NOTIFY_NEVER


@pytest.mark.parametrize("notify", [pb.NOTIFY_UNSPECIFIED, 99])
async def test_no_choice_and_an_unknown_one_are_refused(
    identity: IdentityServiceAsyncStub, tokens: dict[str, str], notify: pb.Notify.ValueType
) -> None:
    refused = await failure(chosen(identity, tokens["ada"], notify))
    assert refused.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "notify: must be one of never, failed, always" in refused.message


class TestWithoutMailServer:
    @pytest.fixture
    def settings(self, tmp_path: Path, database_url: str) -> BillingSettings:
        return BillingSettings(port=0, data_dir=tmp_path / "data", database_url=database_url)

    async def test_a_choice_names_the_setting_that_is_missing(
        self, identity: IdentityServiceAsyncStub, tokens: dict[str, str]
    ) -> None:
        refused = await failure(chosen(identity, tokens["ada"], pb.NOTIFY_FAILED))
        assert (refused.code, "BILLING_NOTICE_MAIL" in refused.message) == (LACKING, True)
        assert not (await chosen(identity, tokens["ada"], pb.NOTIFY_NEVER)).available


async def test_a_settlement_with_a_notice_writes_one_mail_however_often_it_is_sent(
    billing: BillingServiceAsyncStub, stores: Stores, tokens: dict[str, str], db: database.Database
) -> None:
    ada = await stores.users.get("ada")
    assert tokens
    await stores.users.set_notify(ada.user_id, Notify.FAILED)
    held = await billing.ReserveCredit(
        billing_pb2.ReserveCreditRequest(
            account_id=ada.account_id, user_id=ada.user_id, subject="job_1", idempotency_key="job:job_1"
        )
    )
    notice = billing_pb2.EndNotice(kind="submission", name="relu", status="ERROR", message="Its machine was lost.")
    request = billing_pb2.SettleChargeRequest(hold_id=held.hold_id, idempotency_key="job:job_1:1", notice=notice)
    for _ in range(2):
        await billing.SettleCharge(request)
    async with db.reading() as connection:
        rows = (await connection.execute(end_notices.select())).all()
    assert [(row.user_id, row.subject) for row in rows] == [(ada.user_id, "[Wavepool] relu: ERROR")]
    assert rows[0].body.startswith("The submission job_1 has ended: ERROR.\nIts machine was lost.\n")


def test_a_notice_is_the_schedulers_and_comes_with_the_last_settlement() -> None:
    notice = billing_pb2.EndNotice(kind="submission", status="ERROR", most_micros=0)
    last, part = (billing_pb2.SettleChargeRequest(notice=notice, partial=partial) for partial in (False, True))
    found = notice_from_proto(last, is_scheduler=True)
    assert found is not None
    assert (found.kind, found.status, found.most_micros) == ("submission", "ERROR", 0)
    assert notice_from_proto(billing_pb2.SettleChargeRequest(), is_scheduler=False) is None
    for request, is_scheduler in ((part, True), (last, False)):
        with pytest.raises(InvalidFieldError, match="notice: is the scheduler's alone"):
            notice_from_proto(request, is_scheduler=is_scheduler)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ('{"host": "smtp.example.org", "tls": "off", "from": "a@b.org"}', "BILLING_NOTICE_MAIL: tls: may be"),
        ('{"host": "smtp.example.org", "from": "a@b.org", "to": ["hush@b.org"]}', "BILLING_NOTICE_MAIL: to: "),
        ('{"host": "smtp.example.org", "from": "a@b.org", "password": "hush"}', "user: give the user and the password"),
    ],
)
def test_wrong_options_of_the_mail_server_are_refused_without_secrets(value: str, said: str) -> None:
    with pytest.raises(WrongSettingsError) as refused:
        open_notice_mail(BillingSettings(notice_mail=SecretStr(value)).notice_mail_options())
    assert said in str(refused.value)
    assert "hush" not in str(refused.value)


def test_the_mail_server_may_be_in_a_file_and_is_no_list(tmp_path: Path) -> None:
    file = tmp_path / "mail.json"
    file.write_text(SERVER)
    options = BillingSettings(notice_mail=SecretStr(str(file))).notice_mail_options()
    assert options is not None
    assert options["from"] == "wp@example.org"
    for wrong in ("[]", "/no/such/file", "{"):
        with pytest.raises(ValueError, match="notice_mail"):
            BillingSettings(notice_mail=SecretStr(wrong))


async def test_users_from_before_are_mailed_never_and_have_public_profiles(
    db: database.Database, stores: Stores
) -> None:
    await stores.users.create("ada", email="ada@example.org")
    async with db.transaction() as connection:
        for statement in (
            *("DROP TABLE act_outcomes", "DROP TABLE acts"),
            "DROP TABLE tickets",
            "DROP TABLE end_notices",
            "ALTER TABLE users DROP COLUMN notify",
            "ALTER TABLE users DROP COLUMN profile",
            "UPDATE alembic_version SET version_num = '0011'",
        ):
            await connection.execute(text(statement))
    await database.migrate(db, "services.billing:migrations")
    ada = await stores.users.get("ada")
    assert (ada.email, ada.notify, ada.profile) == ("ada@example.org", Notify.NEVER, ProfileVisibility.PUBLIC)
