"""The pool's machines over HTTP."""
