"""The `kai` policy: hierarchical fair shares, and one cycle that starts, moves and stops tasks.

`cycle.run_cycle` is the way in; `cluster` is what it looks at, and `decision` what it answers.

NOTICE: the rules are those of NVIDIA/KAI-Scheduler (Apache License, Version 2.0), told in our own words; no code was
taken. The rows that it is tested against, in `tests/fairness`, each name the test of that project that they come from.
"""
