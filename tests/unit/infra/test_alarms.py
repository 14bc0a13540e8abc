"""Alarms on Penstock's own figures watch what its functions publish."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from penstock.producing import Taken

_ROOT = Path(__file__).parents[3]
_WATCHED = re.compile(r'namespace += "Penstock", metric = "(\w+)"')
_OF_A_CONSUMER = re.compile(r'\("(\w+)", ')


def test_metrics_under_alarm_are_published() -> None:
    alarms = (_ROOT / "infra/modules/alarms/alarms.tf").read_text()
    handler = (_ROOT / "lambdas/consumer/handler.py").read_text()
    published = {*_OF_A_CONSUMER.findall(handler), *re.findall('"(.+)":', _counts())}

    watched = _WATCHED.findall(alarms)

    assert len(watched) >= 5
    assert set(watched) - published == set()


def _counts() -> str:
    return inspect.getsource(Taken.counts)
