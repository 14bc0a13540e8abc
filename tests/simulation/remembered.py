"""Results of pure functions, kept for all programs of a process.

Thousands of environments start with empty caches in an hour, and each would parse, check and merge
the same schemas again. The same arguments have the same result, which all callers share.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import wraps
from typing import Any
from unittest.mock import patch

from localcloud.services.glue.registry.avro_types import parse_definition
from penstock.errors import PenstockError
from penstock.schemas import (
    canonical_form,
    check_compatibility,
    check_schema,
    compile_encoder,
    compile_event_decoder,
    diff_schemas,
    load_schema,
    merge_schemas,
)
from penstock.schemas._types import resolve

_MOST = 5_000  # results of all functions
_REMEMBERED = (
    *(canonical_form, check_compatibility, check_schema, compile_encoder, compile_event_decoder),
    *(diff_schemas, load_schema, merge_schemas, parse_definition, resolve),
)
_ROOTS = ("penstock", "localcloud")


class Memory:
    """Results by function and arguments; nobody changes them.

    Arguments are compared by their bytes. Those of a result are written once: it is an argument of
    the next call as often as not.
    """

    def __init__(self) -> None:
        self._results: dict[Any, tuple[Any, PenstockError | None]] = {}
        self._written: dict[int, tuple[Any, bytes]] = {}

    def recall(self, function: Callable[..., Any], given: Any, named: dict[str, Any]) -> Any:
        """Return the result of a function, or raise its error."""
        identify = self._identify
        key = (
            *(function, *[identify(each) for each in given]),
            *[(name, identify(each)) for name, each in named.items()],
        )
        found = self._results.get(key)
        if found is None:
            if len(self._results) >= _MOST:
                self._results.clear()
                self._written.clear()
            found = self._results[key] = self._compute(function, given, named)
        result, error = found
        if error is not None:
            raise copy(error)
        return result

    def find_changed(self) -> list[Any]:
        """Return the results that somebody has changed."""
        return [each for each, before in self._written.values() if _write(each) != before]

    def _compute(
        self, function: Callable[..., Any], given: Any, named: dict[str, Any]
    ) -> tuple[Any, PenstockError | None]:
        try:
            result = function(*given, **named)
        except PenstockError as error:
            return None, copy(error)
        if isinstance(result, dict):
            self._written[id(result)] = result, _write(result)
        return result, None

    def _identify(self, value: Any) -> Any:
        if isinstance(value, list):
            return tuple([self._identify(each) for each in value])
        known = self._written.get(id(value))
        return known[1] if known else value if isinstance(value, str) else _write(value)


def _write(value: Any) -> bytes:
    # The version of marshal that writes no references, which depend on how a value was built.
    return marshal.dumps(value, 0)


MEMORY = Memory()


def _remember(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def remembered(*given: Any, **named: Any) -> Any:
        return MEMORY.recall(function, given, named)

    return remembered


_IN_PLACE = {each: _remember(each) for each in _REMEMBERED}


@contextmanager
def results_remembered() -> Iterator[None]:
    """Put the functions that remember into all modules that have imported the pure ones."""
    places = [
        (module, name, _IN_PLACE[value])
        for root, module in list(sys.modules.items())
        if root.partition(".")[0] in _ROOTS
        for name, value in list(vars(module).items())
        if callable(value) and value.__hash__ and value in _IN_PLACE
    ]
    patches = [patch.object(*place) for place in places]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()
