"""What Spark generates stays small enough for HotSpot to compile it."""

from __future__ import annotations

import pytest

from penstock.spark import Decoder, split_frames
from penstock.spark._names import COORDINATES
from tests.spark.records import frame, make_record, make_topic, make_version

_HUGE_METHOD = 8_000  # bytes: HotSpot never compiles a longer one


def _versions(count):
    """Versions of 20 shared fields that add up to 69, some of them grown from long to double."""
    shared = [(f"s{at}", "string") for at in range(10)] + [(f"n{at}", "long") for at in range(10)]
    return [
        make_version(
            number,
            make_record(
                *shared,
                *(
                    (f"x{at}", ["null", "double" if number > at else "long"])
                    for at in range(number)
                ),
            ),
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("count", [1, 50])
def test_a_stage_is_one_compiled_method(spark, count):
    versions = _versions(count)
    event = {f"s{at}": "a" for at in range(10)} | {f"n{at}": at for at in range(10)}
    decoder = Decoder(versions)
    records = split_frames(make_topic(spark, [frame(versions[0], event)]))

    rows = decoder.select(decoder.decode(records)).select("event.*", *COORDINATES)

    assert len(rows.columns) == 26 + count - 1
    sizes = _method_sizes(spark, rows)
    assert sizes
    assert max(sizes) < _HUGE_METHOD


def _method_sizes(spark, rows):
    """The largest method of each stage that Spark compiles as a whole."""
    debug = getattr(spark._jvm.org.apache.spark.sql.execution.debug, "package$")
    stages = getattr(debug, "MODULE$").codegenStringSeq(rows._jdf.queryExecution().executedPlan())
    return [stages.apply(at)._3().maxMethodCodeSize() for at in range(stages.size())]
