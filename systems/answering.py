"""The side of a worker: reads questions as lines of JSON, and answers each."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, TextIO


def take_output() -> TextIO:
    """Return the output for answers; all else that this process and its children print is log."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return answers


def answer(answers: TextIO, verbs: Mapping[str, Callable[..., str]]) -> None:
    """Answer questions until the other side ends."""
    for line in sys.stdin:
        question: dict[str, Any] = json.loads(line)
        print(json.dumps(verbs[question.pop("verb")](**question)), file=answers, flush=True)
