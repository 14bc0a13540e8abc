"""Change data capture: an Iceberg table is equal to the table of the database."""

from __future__ import annotations

import os
import random
import secrets
from itertools import count

import pytest

from tests.spark.changes import LONG, CdcJob, Source, change_at_random

_NAMES = count()


@pytest.fixture
def job(spark, lake_folder, tmp_path):
    return CdcJob(spark, tmp_path, f"cdc.film_{next(_NAMES)}")


@pytest.mark.parametrize("flattened", [False, True])
@pytest.mark.parametrize("full", [False, True])
def test_the_table_is_equal_to_the_databases(job, full, flattened):
    film = Source(full=full, flattened=flattened)
    film.insert(id=1, title="ACADEMY DINOSAUR", plot=LONG, tags=[LONG, "b"], rate=0.99)
    film.insert(id=2, title="ACE GOLDFINGER", plot="short")
    film.insert(id=3, title="ADAPTATION HOLES")
    film.snapshot()
    job.take(job.place(film.log))
    assert job.rows() == film.rows

    film.log.clear()
    film.update(1, rate=2.99)  # its plot and tags are out of line, and are not in the log
    film.update(2, title="changed", plot=None)
    film.update(3, id=30)
    film.insert(id=4, title="new", plot=LONG)
    film.update(4, title="newer")
    film.delete(2)
    placed = job.place(film.log)
    job.take(placed)
    assert job.rows() == film.rows

    job.restart()
    job.take(placed, 1)  # the driver ended before it noted that the batch was done
    assert job.rows() == film.rows
    assert job.errors.read() == {}


@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("flattened", [False, True])
def test_generated_histories(job, full, flattened):
    """Batches of any size, that come again, and records that Kafka Connect wrote again."""
    seed = os.environ.get("SEED") or secrets.token_hex(4)
    print(f"SEED={seed}")
    chance = random.Random(f"{seed} {full} {flattened}")
    film = Source(full=full, flattened=flattened)
    for _ in range(int(os.environ.get("HISTORIES", "4"))):
        change_at_random(film, chance, 20)
        left = job.place(film.log)
        if chance.random() < 0.5:  # the connector ended before it noted its place
            left += job.place(film.log[chance.randrange(len(film.log)) :])
        film.log.clear()
        while left:
            size = chance.randrange(1, len(left) + 1)
            taken, left = left[:size], left[size:]
            job.take(taken)
            if chance.random() < 0.5:
                job.restart()
                job.take(taken, job.number - 1)
        assert job.rows() == film.rows
