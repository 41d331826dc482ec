"""Machines that are hosts which somebody else has set up: a laboratory's own, or a container beside vmpool's.

`provider.py` runs in vmpool; `host.py` on each host (`python -m services.vmpool.providers.hosts`), where it starts and
ends the executor as the provider `local` does on vmpool's own host.
"""
