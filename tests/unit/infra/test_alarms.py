"""Alarms on Penstock's own figures watch what its functions and jobs publish."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

from penstock.operations import Status
from penstock.producing import IntakeResult

_ROOT = Path(__file__).parents[3]
_WATCHED = re.compile(
    r'namespace += "Penstock", metric = "(\w+)"|^ +metric += "(\w+)", ', re.MULTILINE
)
_OF_A_CONSUMER = re.compile(r'\("(\w+)", ')
_OF_A_RETRY = re.compile(r'add_metric\("(\w+)"')
_OF_A_CHECK = re.compile(r'name="(Quality\w+)"')
_OF_A_JOB = re.compile(r'^    "(\w+)": "\w+",$', re.MULTILINE)


def test_metrics_under_alarm_are_published() -> None:
    alarms = "".join(path.read_text() for path in (_ROOT / "infra").rglob("*.tf"))
    handler = (_ROOT / "lambdas/consumer/handler.py").read_text()
    retry = (_ROOT / "lambdas/retry/handler.py").read_text()
    check = (_ROOT / "lambdas/quality/handler.py").read_text()
    job = (_ROOT / "src/penstock/spark/query/report.py").read_text()
    published = {
        *_OF_A_CONSUMER.findall(handler),
        *_OF_A_RETRY.findall(retry),
        *_OF_A_CHECK.findall(check),
        *_OF_A_JOB.findall(job),
        *re.findall('"(.+)":', _counts()),
        *re.findall(r'Gauge\("(\w+)"', inspect.getsource(Status.list_gauges)),
    }

    watched = [own or other for own, other in _WATCHED.findall(alarms)]

    assert len(watched) >= 5
    assert set(watched) - published == set()


def _counts() -> str:
    return inspect.getsource(IntakeResult.counts)
