"""Options of other tools for reservations that Wavepool does not have: why, and what to do instead."""

from __future__ import annotations

_LABELS = "machines have no labels for reservations; choose by --gpu-type, as `wavepool avail` lists them"
NOT_HERE = {
    "--docker": "containers there need system calls that the sandbox filters; use --image or --dockerfile instead",
    "--jupyter": "nothing of Jupyter is part of a reservation: run `wavepool jupyter ID`, and end it with Ctrl-C",
    "--label": _LABELS,
    "--node-label": _LABELS,
    "--profiling": "a session gets no rights over its machine beyond its GPUs; leave it out, or have the kernels of a "
    "submission timed: `wavepool submit --profile`",
    "--recreate-env": "a session's shell is set up anew each time; what a disk has in its home, such as ~/.bashrc, is "
    "yours to change or remove",
    "--spot": "whether machines are spot is the operator's choice, the same for all; leave it out",
}
"""By the option's name."""
