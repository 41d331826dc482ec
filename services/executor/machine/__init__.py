"""What this machine is and keeps: inventory, secrets, the key that signs reports; and whether its pool still calls."""
