"""Sandboxes that are processes of ours, restricted by what the kernel lets an ordinary user do."""
