"""The image of a session, while it is fetched or built: its progress is told by events."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from wavepool.executor.v1 import session_pb2
from wavepool.executor.v1.session_pb2 import SessionEvent

from servicekit.cancellation import unless
from services.executor.images.builder import BuildContext
from services.executor.images.errors import ImageError
from services.executor.images.image_store import HeldImage, Image, ImageStore
from services.executor.sessions.root.build_log import BuildLog
from vocabulary.image_references import ImageReference

Images = ImageStore | str
"""The machine's images, or why it takes none."""
Record = Callable[[SessionEvent], None]

_PERCENT_STEP = 10


async def hold_image(
    images: Images, wanted: ImageReference | BuildContext, record: Record, stopped: asyncio.Event
) -> HeldImage | None:
    """Return the image, for its only holder to release; None if it was `stopped` before it was there.

    Raises ImageError, ImageUnavailableError.
    """
    if isinstance(images, str):
        raise ImageError(images)
    said = BuildLog(lambda text: record(SessionEvent(building=session_pb2.SessionBuilding(text=text))))
    percents = in_steps(lambda percent: record(SessionEvent(fetching=session_pb2.SessionFetching(percent=percent))))
    building = isinstance(wanted, BuildContext)
    holding = images.hold_built(wanted, said.take) if building else images.hold(wanted, percents)
    try:
        return await unless(stopped, holding)
    finally:
        said.flush()


def check_command(image: Image, *, is_started: bool) -> None:
    """Raise ImageError if the image's own command is to be started, and it has none."""
    if is_started and not image.command:
        raise ImageError("it has neither ENTRYPOINT nor CMD to start; leave --preserve-entrypoint out")


def in_steps(tell: Callable[[int], None]) -> Callable[[int], None]:
    """Return what takes a percentage again and again, and tells it in steps of ten."""
    told = -_PERCENT_STEP

    def take(percent: int) -> None:
        nonlocal told
        if percent >= told + _PERCENT_STEP:
            told = percent
            tell(percent)

    return take
