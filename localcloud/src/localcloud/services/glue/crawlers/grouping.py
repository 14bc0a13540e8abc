"""Which folders become one table: those at one depth whose columns are similar.

Glue Developer Guide, "How does a crawler determine when to create partitions?" and "How to create a
single schema for each Amazon S3 include path".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce

from localcloud.services.glue.crawlers.files import Columns, Folder, merge

_SIMILAR = 0.7
_OTHER = re.compile(r"[^a-z0-9_]")


@dataclass(frozen=True, slots=True)
class Found:
    """A table that a crawl found: its folder below the target, and its partitions."""

    levels: tuple[str, ...]
    folders: Sequence[Folder]

    @property
    def classification(self) -> str:
        """The format of its files."""
        return self.folders[0].classification

    @property
    def columns(self) -> Columns:
        """The columns of all its files."""
        return reduce(merge, (each.columns for each in self.folders), {})

    @property
    def keys(self) -> list[str]:
        """The names of the partition keys: those of folders `key=value`, or their number."""
        below = [each.levels[len(self.levels) :] for each in self.folders]
        return [_name_key(number, names) for number, names in enumerate(zip(*below, strict=True))]

    def values(self, folder: Folder) -> list[str]:
        """Return the values of the partition keys of a folder."""
        return [each.partition("=")[2] or each for each in folder.levels[len(self.levels) :]]

    def name(self, root: str, prefix: str) -> str:
        """Return the table's name; `root` is the last name of the target's path."""
        return prefix + _OTHER.sub("_", (self.levels[-1] if self.levels else root).lower())


def group_folders(folders: Sequence[Folder], *, combine: bool) -> list[Found]:
    """Return the tables of the folders of a target.

    Args:
        folders: the folders with files.
        combine: whether similarity of columns does not matter: CombineCompatibleSchemas.
    """
    return list(_group((), folders, combine=combine)) if folders else []


def _group(levels: tuple[str, ...], folders: Sequence[Folder], *, combine: bool) -> Iterable[Found]:
    if len(folders) == 1 and folders[0].levels == levels:
        yield Found(levels, folders)
        return
    one_depth = len({len(each.levels) for each in folders}) == 1
    one_format = len({each.classification for each in folders}) == 1
    if one_depth and one_format and (combine or _are_similar(folders)):
        yield Found(levels, folders)
        return
    depth = len(levels)
    own = [each for each in folders if each.levels == levels]
    if own:
        yield Found(levels, own)
    for name in dict.fromkeys(each.levels[depth] for each in folders if each.levels != levels):
        inside = [each for each in folders if each.levels[: depth + 1] == (*levels, name)]
        yield from _group((*levels, name), inside, combine=combine)


def _are_similar(folders: Sequence[Folder]) -> bool:
    """Return whether the columns of the folders are similar to those that they have together."""
    every = {name for each in folders for name in each.columns}
    return all(len(each.columns) >= _SIMILAR * len(every) for each in folders)


def _name_key(number: int, names: Sequence[str]) -> str:
    keys = {each.partition("=")[0] for each in names if "=" in each}
    return _OTHER.sub("_", keys.pop().lower()) if len(keys) == 1 else f"partition_{number}"


def distinguish(name: str, location: str) -> str:
    """Return another name for a table whose name another location has."""
    return f"{name}_{hashlib.md5(location.encode(), usedforsecurity=False).hexdigest()}"
