"""Sandboxes that are processes of ours, held back by what the kernel lets an ordinary user do."""
