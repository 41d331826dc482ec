"""Decisions about users, teams, roles, accounts and tokens. No I/O."""
