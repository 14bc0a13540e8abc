"""Results of pure functions, kept for all programs of a process.

Thousands of environments start with empty caches in an hour, and each would parse, check and merge
the same schemas again. The same arguments have the same result, which each caller gets a copy of.
"""

from __future__ import annotations

import marshal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import lru_cache, wraps
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

_MOST = 2_000  # results of one function
_VALUES = (merge_schemas, load_schema, canonical_form, check_schema)
# Whose results nobody changes.
_OBJECTS = (
    *(check_compatibility, compile_encoder, compile_event_decoder, diff_schemas),
    *(parse_definition, resolve),
)
_ROOTS = ("penstock", "localcloud")


def _read(written: bytes) -> Any:
    return marshal.loads(written)  # noqa: S302 - by this program


def _remember(function: Callable[..., Any], *, is_copied: bool) -> Callable[..., Any]:
    """Return a function that works a result out once; each caller gets a copy, if one is needed."""

    @lru_cache(_MOST)
    def call(given: bytes) -> tuple[Any, PenstockError | None]:
        arguments, named = _read(given)
        try:
            result = function(*arguments, **named)
            return marshal.dumps(result) if is_copied else result, None
        except PenstockError as error:
            return None, copy(error)

    @wraps(function)
    def remembered(*arguments: Any, **named: Any) -> Any:
        # The version of marshal that writes no references, which depend on how a value was built.
        result, error = call(marshal.dumps((arguments, named), 0))
        if error is not None:
            raise copy(error)
        return _read(result) if is_copied else result

    return remembered


_REMEMBERED = {
    **{each: _remember(each, is_copied=True) for each in _VALUES},
    **{each: _remember(each, is_copied=False) for each in _OBJECTS},
}


@contextmanager
def results_remembered() -> Iterator[None]:
    """Put the functions that remember into all modules that have imported the pure ones."""
    places = [
        (module, name, _REMEMBERED[value])
        for root, module in list(sys.modules.items())
        if root.partition(".")[0] in _ROOTS
        for name, value in list(vars(module).items())
        if callable(value) and value.__hash__ and value in _REMEMBERED
    ]
    patches = [patch.object(*place) for place in places]
    for each in patches:
        each.start()
    try:
        yield
    finally:
        for each in patches:
            each.stop()
