"""Sessions: shells on a part of the machine for some hours, over SSH, each in a sandbox of its own."""
