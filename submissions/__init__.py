"""What a person sends (wavepool.submission.v1.Submission): its modes in words, and the one check of it."""
