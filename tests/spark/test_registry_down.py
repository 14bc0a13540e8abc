"""A registry that is down, throttled, closed or wrong while a batch meets a version for the first
time: the job ends with a sentence, no good record is given up, and what is known needs no registry.
"""

from __future__ import annotations

from functools import partial

import pytest

from penstock.attempts import Attempts
from penstock.errors import (
    RegistryAccessDeniedError,
    RegistryAnswerError,
    RegistryUnavailableError,
)
from penstock.registry import CachedRegistry, GlueRegistry, GlueSettings, Registries
from penstock.spark.state.schema_ledger import Ledger
from penstock.tables import BatchId
from tests.fixtures.glue_api import GlueApi
from tests.spark.batches import open_batches
from tests.spark.records import frame, make_record, make_topic
from tests.spark.sinks import FileErrors, FileSink
from tests.stubs.registries import UNKNOWN

_V1 = make_record(("deviceId", "string"))
_READ = "GetSchemaVersion"
_ALWAYS = 1_000
_SOON = Attempts(first_seconds=0.01, longest_seconds=0.02, total_seconds=0.1)


def _wrong(api):
    api.change(_READ, lambda answer: answer | {"SchemaVersionId": str(UNKNOWN)}, times=_ALWAYS)


def _down(code, status):
    return lambda api: api.fail(_READ, code, times=_ALWAYS, status=status)


_FAULTS = {
    "closed": (
        _down("AccessDeniedException", 403),
        RegistryAccessDeniedError,
        "^glue://plant answered glue:GetSchemaVersion with AccessDeniedException: ",
    ),
    "down": (
        _down("InternalServiceException", 500),
        RegistryUnavailableError,
        "^glue://plant answered glue:GetSchemaVersion with InternalServiceException: ",
    ),
    "throttled": (
        lambda api: api.throttle(_READ, times=_ALWAYS),
        RegistryUnavailableError,
        "^glue://plant answered glue:GetSchemaVersion with ThrottlingException: ",
    ),
    "cut off": (
        lambda api: api.cut(_READ, times=_ALWAYS),
        RegistryUnavailableError,
        "^no answer from glue://plant: ",
    ),
    "wrong": (_wrong, RegistryAnswerError, f"{UNKNOWN}, expected "),
}


@pytest.fixture
def api(cloud):
    made = GlueApi(cloud)
    yield made
    made.reset()


@pytest.fixture
def errors(tmp_path):
    (tmp_path / "errors").mkdir()
    return FileErrors(tmp_path / "errors")


@pytest.fixture
def take(spark, api, errors, tmp_path):
    """Take a batch of a record as a job does that has just been started; give the counts."""

    def take(sink, value, number):
        registry = GlueRegistry(GlueSettings("plant"), api.client, attempts=_SOON)
        ledger = Ledger(spark, str(tmp_path / "schemas"))
        batches = open_batches(Registries([CachedRegistry(registry)]), ledger, [sink], errors)
        records = make_topic(spark, [value], first=number)
        return batches.write_batch(records, BatchId("query", number))

    (tmp_path / "rows").mkdir()
    return partial(take, FileSink(tmp_path / "rows"))


def test_a_cold_start_gives_up_no_record_and_a_warm_one_makes_no_call(
    take, api, errors, tmp_path, fault
):
    version = GlueRegistry(GlueSettings("plant"), api.client).register("sensor", _V1).version
    value = frame(version, {"deviceId": "a"})
    outages = fault("registry-down")
    for inject, kind, message in _FAULTS.values():
        api.heal()
        api.calls.clear()
        inject(api)
        with pytest.raises(kind, match=message):
            take(value, 0)
        outages.count(1, fired=api.broken)
        assert errors.reasons() == {}
        assert not list((tmp_path / "schemas").glob("*"))

    api.heal()
    assert take(value, 0).rows == 1
    api.calls.clear()
    assert take(value, 1).rows == 1
    assert api.calls == []
    assert errors.reasons() == {}
