"""What this machine is, and what it keeps of its own: inventory, secrets, the key that signs reports."""
