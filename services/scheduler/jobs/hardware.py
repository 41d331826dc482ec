"""The hardware that a job runs on."""

from __future__ import annotations

CPU = "cpu"
"""The device whose times do not rank: it is for tests of kernels, and its machines differ."""


def hardware_of(device: str, gpu_type: str) -> str:
    """The GPU type of a machine, or `cpu` if its executor runs kernels on the cpu device, whatever was asked for."""
    return CPU if device == CPU else gpu_type
