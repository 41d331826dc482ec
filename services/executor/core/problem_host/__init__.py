"""Problem definitions that come with submissions: evaluated in a sandbox of their own, and adapted to `Problem`."""
