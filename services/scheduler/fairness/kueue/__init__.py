"""The `kueue` policy: queues borrow from each other in cohorts, and dominant resource shares keep that fair.

`admission_pass.py` decides on all that waits, in cycles (`admission_cycle.py`) with one workload of each queue: it is
nominated with its flavors and victims, and decided on in a fair order. All functions are pure. The rules are those of
Kueue; see NOTICE.
"""
