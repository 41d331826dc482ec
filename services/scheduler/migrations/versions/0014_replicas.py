"""Lets several schedulers share the database: one leads, and the others hear of its events."""

from __future__ import annotations

from alembic import op

from servicekit.db.migration.leader_leases import create_leader_leases

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Nobody leads yet. On SQLite, which notifies nobody, followers go on polling."""
    create_leader_leases("scheduler")
    if op.get_bind().dialect.name != "postgresql":
        return
    op.execute(
        "CREATE FUNCTION tell_of_events() RETURNS trigger LANGUAGE plpgsql AS "
        "$$ BEGIN PERFORM pg_notify('job_events', NEW.job_id || ' ' || NEW.last_seq); RETURN NULL; END $$"
    )
    op.execute(
        "CREATE TRIGGER jobs_tell_of_events AFTER UPDATE OF last_seq ON jobs FOR EACH ROW "
        "WHEN (NEW.last_seq > OLD.last_seq) EXECUTE FUNCTION tell_of_events()"
    )
