"""Channels, through which alerts reach people: plug-ins of the entry point group `wavepool.alert_channels`."""
