"""Options of other tools for reservations that Wavepool does not have: why, and what to do instead."""

from __future__ import annotations

_LABELS = "reservations do not select machines by label; choose a --gpu-type of `wavepool avail`"
NOT_HERE = {
    "--docker": "containers there need system calls that the sandbox filters; use --image or --dockerfile instead",
    "--jupyter": "Jupyter is not part of a reservation: run `wavepool jupyter ID`, and end it with Ctrl-C",
    "--label": _LABELS,
    "--node-label": _LABELS,
    "--profiling": "a session gets no rights over its machine beyond its GPUs; omit the option, or time the "
    "kernels of a submission: `wavepool submit --profile`",
    "--recreate-env": "a session's shell is set up fresh each time; files in a disk's home, such as ~/.bashrc, are "
    "yours to change or remove",
    "--spot": "the operator chooses spot or on-demand machines for all users; omit the option",
}
"""By the option's name."""
