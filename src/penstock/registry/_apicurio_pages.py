"""The items of a list that Apicurio answers page by page."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any


class Pages(Iterator[Any]):
    """An iterator over all items; after an error it goes on with the page that failed.

    `read_page` returns the items from a position on, and how many there are in all. The list ends
    before that if a page is empty or the same as the one before it, whatever the registry counts.
    """

    def __init__(self, read_page: Callable[[int], tuple[list[Any], int]]) -> None:
        self._read_page = read_page
        self._items: deque[Any] = deque()
        self._last: list[Any] = []
        self._seen, self._count = 0, 1

    def __next__(self) -> Any:
        """Return the next item; one page is in memory at a time."""
        if not self._items and self._seen < self._count:
            page, self._count = self._read_page(self._seen)
            self._seen += len(page)
            if page == self._last:
                self._count = 0
            else:
                self._items.extend(page)
            self._last = page
        if not self._items:
            raise StopIteration
        return self._items.popleft()
