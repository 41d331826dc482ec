"""Adds users, teams, and what tokens may do; accounts become wallets, without rights."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Each account becomes a user of its name, with the right that the account had and with all its tokens."""
    _create_users()
    _create_teams()
    op.execute(
        "INSERT INTO users (user_id, name, email, role, account_id, issuer, subject, create_time) "
        "SELECT 'user_' || REPLACE(account_id, 'acct_', ''), name, '', "
        "CASE WHEN admin THEN 'admin' ELSE 'user' END, account_id, NULL, NULL, create_time FROM accounts"
    )
    _give_tokens_to_users()
    op.drop_column("accounts", "admin")


def _create_users() -> None:
    op.create_table(
        "users",
        sa.Column("user_id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("email", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False, unique=True),
        sa.Column("issuer", sa.Text),
        sa.Column("subject", sa.Text),
        sa.Column("create_time", sa.BigInteger, nullable=False),
        sa.Column("disable_time", sa.BigInteger),
        sa.CheckConstraint("role IN ('user', 'operator', 'admin', 'service')", name="users_role"),
        sa.UniqueConstraint("issuer", "subject", name="users_outside_identity"),
    )


def _create_teams() -> None:
    op.create_table(
        "teams",
        sa.Column("team_id", sa.Text, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.account_id"), nullable=False, unique=True),
        sa.Column("create_time", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "team_members",
        sa.Column("team_id", sa.Text, sa.ForeignKey("teams.team_id"), nullable=False),
        sa.Column("user_id", sa.Text, sa.ForeignKey("users.user_id"), nullable=False, index=True),
        sa.Column("level", sa.Text, nullable=False),
        sa.Column("origin", sa.Text, nullable=False),
        sa.PrimaryKeyConstraint("team_id", "user_id"),
        sa.CheckConstraint("level IN ('member', 'manager')", name="team_members_level"),
        sa.CheckConstraint("origin IN ('hand', 'sign_in')", name="team_members_origin"),
    )


def _give_tokens_to_users() -> None:
    op.add_column("tokens", sa.Column("user_id", sa.Text))
    op.add_column("tokens", sa.Column("scopes", sa.Text, nullable=False, server_default=""))
    op.add_column("tokens", sa.Column("expire_time", sa.BigInteger))
    op.execute(
        "UPDATE tokens SET user_id = (SELECT users.user_id FROM users WHERE users.account_id = tokens.account_id)"
    )
    with op.batch_alter_table("tokens") as tokens:
        tokens.alter_column("user_id", existing_type=sa.Text, nullable=False)
        tokens.create_foreign_key("tokens_user", "users", ["user_id"], ["user_id"])
        tokens.create_index("ix_tokens_user_id", ["user_id"])
