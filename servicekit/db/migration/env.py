"""Alembic's environment, one for all services: it runs on the connection that `database.migrate` opened."""

from __future__ import annotations

from alembic import context

context.configure(
    connection=context.config.attributes["connection"], render_as_batch=True, transaction_per_migration=False
)
context.run_migrations()
