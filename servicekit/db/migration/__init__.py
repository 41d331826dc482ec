"""Alembic environment shared by the services."""
