"""The GPU type field, which bodies of submissions and of machines share."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

GpuType = Annotated[
    str, Field(max_length=40, description="Default: the operator's default, MI300X unless VMPOOL_DEFAULT_GPU is set.")
]
