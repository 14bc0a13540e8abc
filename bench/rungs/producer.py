"""Rungs of the producer function (R12): a real broker, localcloud's Glue, and two handlers."""

from __future__ import annotations

import json
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bench.ladder import Form, Result, most, reported
from bench.rungs.one_broker import running_world

_ROOT = Path(__file__).resolve().parents[2]
_OURS, _PLAIN = _ROOT / "lambdas/producer", _ROOT / "bench/stubs/plain_producer"
_TURNS = 5
_NO_BYTECODE = "PYTHONDONTWRITEBYTECODE"
_SCHEMA = {
    "type": "record",
    "name": "sensor",
    "fields": [
        {"name": "deviceId", "type": "string"},
        {"name": "timestamp", "type": "long"},
        {"name": "temperature", "type": ["null", "long"], "default": None},
    ],
}


@contextmanager
def _world() -> Iterator[dict[str, str]]:
    """Yield the environment of a function beside a broker and a registry with one schema."""
    with running_world(_SCHEMA) as (folder, settings):
        yield {
            **{name: os.environ[name] for name in os.environ if name != _NO_BYTECODE},
            **settings,
            "PENSTOCK_REJECTED_BUCKET": "rejected",
            "PYTHONPYCACHEPREFIX": str(folder / "bytecode"),
            "REGISTRY": "bench",
        }


def _call(
    folder: Path, environ: dict[str, str], count: int, *, restored: bool = False
) -> dict[str, float]:
    words = [sys.executable, "-m", "bench.stubs.call_handler", str(folder), str(count)]
    words += ["restored"] if restored else []
    with subprocess.Popen(words, env=environ, stdout=subprocess.PIPE, text=True) as process:
        if restored:
            os.waitid(os.P_PID, process.pid, os.WSTOPPED)
            process.send_signal(signal.SIGCONT)
        said, _ = process.communicate()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, words)
    took: dict[str, float] = json.loads(said.splitlines()[-1])
    return took


def _produce_cold(_: Form, *, restored: bool = False) -> Result:
    """Compare our first answer, from the start or from the thaw, with a plain cold start."""
    times: dict[Path, list[float]] = {_OURS: [], _PLAIN: []}
    with _world() as environ:
        for folder in (_OURS, _PLAIN):  # create the topic, and compile the modules that both import
            _call(folder, environ, 0)
        for turn in range(_TURNS):
            for folder in (_OURS, _PLAIN) if turn % 2 else (_PLAIN, _OURS):
                called = _call(folder, environ, 0, restored=restored and folder is _OURS)
                times[folder].append(called["cold"])
    ours, plain = (statistics.median(each) for each in times.values())
    parts = {"product_milliseconds": round(ours, 1), "other_milliseconds": round(plain, 1)}
    return Result(ours / plain, "times the time", parts)


def _produce_warm(form: Form) -> Result:
    with _world() as environ:
        _call(_OURS, environ, 0)
        ours, plain = (_call(folder, environ, form.calls) for folder in (_OURS, _PLAIN))
    parts = {
        f"{name}_{quantile}_milliseconds": round(figures[quantile], 2)
        for name, figures in (("product", ours), ("other", plain))
        for quantile in ("p50", "p99")
    }
    return Result(ours["p50"], "milliseconds", parts)


PRODUCER = (
    reported(
        "produce-warm",
        "How long does the warm producer function take for an event? The median.",
        _produce_warm,
    ),
    most(
        "produce-cold",
        "How soon is the first event of a new environment, against a plain handler on boto3?",
        0.7,
        _produce_cold,
    ),
    most(
        "produce-restored",
        "How soon is it after a snapshot was thawed, against the cold start of a plain handler?",
        0.3,
        partial(_produce_cold, restored=True),
    ),
)
