"""The workers of a run, and the room for them in an application."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from localcloud.errors import JobFailedError
from localcloud.jobs import read_submission
from localcloud.services.emr_serverless.capacity import (
    ACCOUNT_IS_FULL,
    Capacity,
    Occupied,
    read_workers,
)

_MAXIMUM = {"cpu": "8 vCPU", "memory": "32 GB"}


def _workers(parameters="", **settings):
    named = {f"spark.{name.replace('_', '.')}": value for name, value in settings.items()}
    return read_workers(read_submission(parameters, named))


def _small(most="1"):
    words = [
        f"--{kind}-{name}" for kind in ("driver", "executor") for name in ("cores 1", "memory 3g")
    ]
    return _workers(" ".join([*words, f"--conf spark.dynamicAllocation.maxExecutors={most}"]))


def test_workers_have_the_sizes_of_emr():
    usual = _workers()
    small = _workers(
        "--verbose --driver-cores 1", driver_memory="1g", executor_cores="8", executor_memory="20g"
    )

    assert usual.driver == usual.executor == Capacity(4, 16)
    assert usual.max_executors == 1_000_000
    assert small.driver == Capacity(1, 2)
    assert small.executor == Capacity(8, 24)  # in steps of 4 GB
    assert _workers("--num-executors 2").max_executors == 1_000_000
    fixed = _workers("--num-executors 2", dynamicAllocation_enabled="false")
    assert fixed.max_executors == 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"driver_cores": "3"}, r"spark.driver.cores is 3, expected one of \[1, 2, 4, 8, 16\]"),
        ({"executor_memory": "much"}, "spark.executor.memory is much, expected a size such as 4g"),
        (
            {"driver_cores": "1", "driver_memory": "8g"},
            "memory is 8g, with its overhead 9 GB; a worker of 1 vCPU has at most 8 GB",
        ),
    ],
)
def test_a_worker_that_emr_has_not_is_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        _workers(**settings)


def test_a_run_with_the_defaults_of_emr_takes_the_whole_application():
    occupied = Occupied()
    with occupied.take("consume", _workers(), _MAXIMUM):
        with pytest.raises(JobFailedError) as caught, occupied.take("replay", _small(), _MAXIMUM):
            pass
    said = "as the application has exceeded maximumCapacity settings: [cpu: 8 vCPU, memory: 32 GB]"
    assert str(caught.value).startswith("ApplicationMaxCapacityExceededException: Worker could not")
    assert str(caught.value).endswith(said)
    with occupied.take("replay", _small(), _MAXIMUM):
        pass


def test_runs_with_sizes_fit_together():
    occupied = Occupied()
    with ExitStack() as running:
        for name in ("consume", "replay", "maintain", "other"):
            running.enter_context(occupied.take(name, _small(), _MAXIMUM))
        with pytest.raises(JobFailedError), occupied.take("one-more", _small(), _MAXIMUM):
            pass


def test_an_application_without_a_maximum_takes_many_runs():
    occupied = Occupied()
    with ExitStack() as running:
        for number in range(20):
            running.enter_context(occupied.take(str(number), _workers(), {}))


def test_the_quota_of_an_account_bounds_the_runs_of_all_its_applications():
    one, other, account = Occupied(), Occupied(), Occupied(ACCOUNT_IS_FULL)
    quota = {"cpu": "4 vCPU"}
    with ExitStack() as running:
        granted = running.enter_context(one.take("consume", _small("9"), _MAXIMUM))
        assert granted.max_executors == 7
        granted = running.enter_context(account.take("consume", granted, quota))
        assert granted.max_executors == 3
        with pytest.raises(JobFailedError) as caught, other.take("replay", _small(), _MAXIMUM):
            with account.take("replay", _small(), quota):
                pass
    said = "the account has reached the service limit on the maximum vCPU it can use concurrently"
    assert str(caught.value) == f"ServiceQuotaExceededException: {said}: [cpu: 4 vCPU]"
    with account.take("replay", _small(), quota):
        pass
