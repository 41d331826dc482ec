"""Describes things in words for people; pure, and tolerant of unknown fields."""
