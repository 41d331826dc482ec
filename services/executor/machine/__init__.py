"""The state of this machine: inventory, secrets, the key that signs reports, and the watch over its pool."""
