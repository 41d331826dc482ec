"""Submissions (wavepool.submission.v1.Submission): the names of their modes, and the one check of them."""
