"""The pool's decisions as pure functions: how many machines, which offers, and how long machines stay."""
