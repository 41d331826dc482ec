"""Reasons for which an image cannot be had."""

from __future__ import annotations


class ImageError(Exception):
    """The image cannot be had here, and another try would not change that; the message is for its user."""


class ImageUnavailableError(Exception):
    """The image cannot be had now, which is no fault of the image: a registry that is silent, a full disk."""
