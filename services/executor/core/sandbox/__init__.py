"""The place of a run: folders, sandboxes and their exit reasons, the canary, the channel to a runner."""
