"""The pages: Markdown files that travel in the package."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import files
from typing import Final

from penstock.errors import OperationError

_TEXTS: Final = files("penstock.reasons") / "texts"


@dataclass(frozen=True, slots=True)
class Page:
    """The page of a reason."""

    name: str
    text: str

    @property
    def summary(self) -> str:
        """The sentence below its heading."""
        return self.text.split("\n\n", 2)[1]


def list_pages() -> list[Page]:
    """Return all pages by name."""
    texts = sorted(_TEXTS.iterdir(), key=lambda file: file.name)
    return [Page(file.name.removesuffix(".md"), file.read_text(encoding="utf-8")) for file in texts]


def find_page(name: str) -> Page:
    """Return the page of a reason.

    Raises:
        OperationError: there is no reason with this name.
    """
    pages = {page.name: page for page in list_pages()}
    if name not in pages:
        near = get_close_matches(name, pages, n=1)
        expected = f"did you mean {near[0]}?" if near else "`penstock explain` lists them"
        raise OperationError(f"found no reason {name!r}; {expected}")
    return pages[name]
