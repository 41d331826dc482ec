"""Databases: SQLAlchemy on SQLite and PostgreSQL, migrations, and the leader lease."""
