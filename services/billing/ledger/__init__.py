"""Decisions about money: the books, and the costs of machines. No I/O."""
