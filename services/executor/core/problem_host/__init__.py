"""Problem definitions that come with submissions: evaluated in a box of their own, and adapted to `Problem`."""
