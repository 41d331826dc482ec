"""Orders to a session's first program, and its answers; it may have ended, or its users may have stopped it."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from services.executor.sessions.errors import SessionNotReadyError, SilentSessionError
from services.executor.sessions.session_sandbox import OpenSandbox
from services.executor.sessions.states import SessionLife

ANSWER_SECONDS = 10.0
WAKE_SECONDS = 1.0
"""A first program that has not answered for this long is let go on, again and again: somebody may have stopped it."""
_MOST_COUNTED = 10_000
"""The largest count in an answer that is believed: users can make the first program report any."""


class Orders:
    """Orders to the first program in `sandbox`, which is None until that is made and once it is removed."""

    def __init__(self, life: SessionLife) -> None:
        self.life = life
        self.sandbox: OpenSandbox | None = None
        self._questions: dict[int, asyncio.Future[int]] = {}
        self._question_count = 0

    def give(self, descriptor: int | None, **order: object) -> None:
        """Give an order, with an open file; raises SilentSessionError, SessionNotReadyError."""
        if self.sandbox is None:
            raise SessionNotReadyError(self.life.session_id)
        self.sandbox.send(order, descriptor)

    def tell(self, **order: object) -> None:
        """Give an order that the session may miss if one of its users has stopped its first program."""
        with suppress(SilentSessionError, SessionNotReadyError):
            self.give(None, **order)

    def notify(self, text: str) -> None:
        """Write a text to every terminal."""
        self.tell(order="notify", number=0, text=text)

    async def ask(self, **order: object) -> int:
        """Give an order and return the number in its answer; raises SilentSessionError, SessionNotReadyError.

        A user who stops the first program does not keep the session from answering.
        """
        self._question_count += 1
        number = self._question_count
        answer: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._questions[number] = answer
        try:
            self.give(None, number=number, **order)
            async with asyncio.timeout(ANSWER_SECONDS):
                while not (await asyncio.wait({answer}, timeout=WAKE_SECONDS))[0]:
                    if self.sandbox is not None:
                        self.sandbox.wake()
                return answer.result()
        except TimeoutError as error:
            raise SilentSessionError(self.life.session_id) from error
        finally:
            del self._questions[number]

    def take_answer(self, number: int, count: int) -> None:
        """Take an answer, which may be forged."""
        if (answer := self._questions.get(number)) and not answer.done():
            answer.set_result(min(max(count, 0), _MOST_COUNTED))
