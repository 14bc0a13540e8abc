"""The handler's module in this process, over a topic in memory, and what it leaves in its log."""

from __future__ import annotations

import importlib.util
import io
import json
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import snapshot_restore_py

from tests.stubs.topic import FakeTopic

FOLDER = Path(__file__).parents[3] / "lambdas/producer"


@dataclass
class Context:
    """What Lambda says of a call."""

    function_name: str = "penstock-producer"
    aws_request_id: str = "8d6f7f5e-8c0c-4b6b-a0d5-8a2b7f9f4a11"
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:111111111111:function:p"
    milliseconds: int = 20_000

    def get_remaining_time_in_millis(self) -> int:
        """The time that is left."""
        return self.milliseconds


@dataclass
class Function:
    """The module of the handler, the topic it writes to, and what it leaves in its log."""

    module: Any
    topic: FakeTopic
    lines: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, event: Any, **context: Any) -> Any:
        """Call it as Lambda does."""
        out = io.StringIO()
        self.module._log.logger_handler.setStream(out)  # it keeps what it found when it was made
        try:
            with redirect_stdout(out):
                return self.module.lambda_handler(event, Context(**context))
        finally:
            self.lines = [json.loads(line) for line in out.getvalue().splitlines()]

    @property
    def metrics(self) -> dict[str, Any]:
        """The figures of the last call."""
        return next(line for line in self.lines if "_aws" in line)


def load(variables: dict[str, str]) -> Any:
    """Import the handler as an environment with these variables does."""
    spec = importlib.util.spec_from_file_location("producer_handler", FOLDER / "handler.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    kept = {name: value for name, value in os.environ.items() if name.startswith("AWS_")}
    with patch.dict(os.environ, kept | variables, clear=True):
        spec.loader.exec_module(module)
    return module


@pytest.fixture
def function(bucket: str) -> Iterator[Function]:
    """The handler with a registry in memory and a real bucket for what it refuses."""
    topic = FakeTopic()
    variables = {
        "KAFKA_BOOTSTRAP_SERVERS": "127.0.0.1:9",
        "KAFKA_SECURITY": "plaintext",
        "PENSTOCK_REGISTRY": "memory://",
        "PENSTOCK_POLICY": "exact",
        "PENSTOCK_REJECTED_BUCKET": bucket,
    }
    with (
        topic.in_place(),
        patch("penstock.producing.producer.Producer", lambda *_: topic),
        patch.object(snapshot_restore_py, "_after_restore_registry", []),
        _logger_of_its_own(),
    ):
        yield Function(load(variables), topic)


@contextmanager
def _logger_of_its_own() -> Iterator[None]:
    """Powertools changes the logger of that name for the whole process."""
    logger = logging.getLogger("penstock")
    before = logger.__dict__.copy()
    logger.__dict__ |= {"handlers": [], "filters": []}
    yield
    logger.__dict__.clear()
    logger.__dict__.update(before)
