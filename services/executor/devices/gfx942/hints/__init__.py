"""What an author could do better, each with the reason that shows it."""
