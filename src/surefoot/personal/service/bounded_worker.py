"""One thread that answers, one request after the other, and how many may wait for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any


class QueueFullError(Exception):
    """More requests wait than may."""


class TooSlowError(Exception):
    """A request was not answered in time."""


class BoundedWorker:
    """A thread with a queue: features are looked up under one lock, so that more threads would only wait for it."""

    def __init__(self, queue: int) -> None:
        self._most, self.waiting = queue, 0
        self._thread = ThreadPoolExecutor(1, "surefoot-serve")

    async def run(self, function: Callable[..., Any], *arguments: Any, seconds: float, **named: Any) -> Any:
        """What the function returns, within so many seconds; one that has not begun by then never begins."""
        if self.waiting >= self._most:
            raise QueueFullError
        self.waiting += 1
        loop = asyncio.get_running_loop()
        future: Future[Any] = self._thread.submit(function, *arguments, **named)
        # What has begun counts until it is done, also where nobody waits for it any longer.
        future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._done))
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), seconds)
        except TimeoutError as error:
            raise TooSlowError from error

    def _done(self) -> None:
        self.waiting -= 1

    def close(self) -> None:
        """Wait for what has begun."""
        self._thread.shutdown(wait=True)
