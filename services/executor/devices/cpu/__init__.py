"""The host processor as a device."""
