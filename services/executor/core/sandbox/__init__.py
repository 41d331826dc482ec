"""Where a run takes place: folders, sandboxes and how they end, the canary, the channel to what runs there."""
