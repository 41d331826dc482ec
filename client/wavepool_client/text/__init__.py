"""Says things in words for people; pure, and calm about fields that it does not know."""
