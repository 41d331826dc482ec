"""Exit statuses of the `wavepool` command, for scripts."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """The exit statuses of all commands; `--help` and docs/command-line.md list them."""

    ACCEPTED = 0
    """The command succeeded; a submission was accepted."""
    NOT_ACCEPTED = 1
    """The verdict is about the submission: wrong answer, compile error, time limit and the like."""
    USAGE = 2
    """Bad input: an option, a file, a problem that does not exist."""
    UNAVAILABLE = 3
    """Infrastructure: nothing answers, or it failed; the submission is not to blame."""
    AUTHENTICATION = 4
    """The token is missing, wrong or revoked."""
    NOT_VALID = 5
    """Accepted, but the time is not VALID; only with `--require-valid`."""
    LIMIT_REACHED = 6
    """A limit of the account or the user is reached: nothing was made; later, or with less in flight, it works."""
    SAMPLE_ONLY = 7
    """The sample of the problem definition is right, but none of its test cases could be run."""
    INTERRUPTED = 130
    """Ctrl-C."""


EXPLANATION = (
    "Exit status: 0 accepted · 1 not accepted (the verdict is about the submission) · 2 bad input · "
    "3 infrastructure or unreachable · 4 authentication · 5 accepted with a time that is not VALID (--require-valid) · "
    "6 a limit is reached, try later · 7 only the definition's sample could be run · 130 interrupted"
)
