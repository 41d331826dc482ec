"""Whatever is changed in whatever order, an administrator with a working token is left."""

from __future__ import annotations

import asyncio
import tempfile
from contextlib import suppress
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from servicekit.db import database
from services.billing.config import BillingSettings
from services.billing.errors import LastAdministratorError, NotAllowedError, UserDisabledError
from services.billing.identity.rights import ALL_SCOPES, Role, Scope
from services.billing.server import build_stores
from services.billing.service.billing_service import Stores

NAMES = ("ada", "bob", "eve")
users = st.sampled_from(NAMES)
changes = st.one_of(
    st.tuples(st.just("role"), users, st.sampled_from(Role)),
    st.tuples(st.just("disabled"), users, st.booleans()),
    st.tuples(st.just("token"), users, st.frozensets(st.sampled_from(Scope), max_size=2)),
    st.tuples(st.just("revoke"), st.integers(0, 20), st.none()),
)


async def change(stores: Stores, kind: str, what: str | int, to: object, made: list[str]) -> None:
    if kind == "role":
        await stores.users.update(str(what), role=Role(str(to)))
    elif kind == "disabled":
        await stores.users.update(str(what), disabled=bool(to))
    elif kind == "token":
        user = await stores.users.get(str(what))
        scopes = frozenset(to) if isinstance(to, frozenset) else ALL_SCOPES
        made.append((await stores.tokens.create(user.user_id, "t", scopes=scopes))[0].token_id)
    else:
        await stores.tokens.revoke(made[int(what) % len(made)])


async def administrators(stores: Stores, made: list[str]) -> int:
    """Tokens that may administer."""
    found = 0
    for token_id in made:
        with suppress(NotAllowedError):
            found += Scope.ADMIN in (await stores.tokens.caller(token_id)).scopes
    return found


async def play(file: Path, asked: list[tuple[str, str | int, object]]) -> None:
    db = database.Database(f"sqlite+aiosqlite:///{file}")
    await database.migrate(db, "services.billing:migrations")
    stores = build_stores(db, BillingSettings(data_dir=file.parent))
    made: list[str] = []
    for name in NAMES:
        await stores.users.create(name, Role.ADMIN if name == "ada" else Role.USER)
    await change(stores, "token", "ada", frozenset(), made)
    for kind, what, to in asked:
        before = await administrators(stores, made)
        try:
            await change(stores, kind, what, to, made)
        except UserDisabledError:
            pass
        except LastAdministratorError:
            assert before == await administrators(stores, made), (kind, what, to)
        assert await administrators(stores, made) >= 1, (kind, what, to)
    await db.close()


@settings(max_examples=20)
@given(st.lists(changes, max_size=25))
def test_an_administrator_with_a_working_token_is_left(asked: list[tuple[str, str | int, object]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(play(Path(folder) / "billing.db", asked))
