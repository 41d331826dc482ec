"""What a submission is compiled for and runs on."""
