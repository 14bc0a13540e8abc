"""What Spark generates is small enough for HotSpot to compile it, and decodes once."""

from __future__ import annotations

import pytest

from penstock.framing import FrameKind, Framing, SchemaKey
from penstock.spark.decoding.decoder import Decoder
from penstock.spark.decoding.frames import FrameStatus, split_frames
from penstock.spark.filter_counts import FilterCounts
from penstock.spark.query.parts import IS_ERROR, decode_frames, make_keeper, write_filters
from penstock.tables import COORDINATES
from tests.spark.records import frame, make_record, make_topic, make_version

pytestmark = pytest.mark.usefixtures("compiled")

_GLUE = Framing(frozenset({FrameKind.GLUE}))
_UNFRAMED = {"readings": SchemaKey.parse("confluent:7")}
_FILTERS = write_filters(is_staged=True, is_routed=True)
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


@pytest.mark.parametrize(
    ("count", "framing"),
    [
        (1, _GLUE),
        (50, _GLUE),
        (1, Framing(frozenset({FrameKind.GLUE, FrameKind.APICURIO}))),
        (50, Framing(frozenset({FrameKind.CONFLUENT}))),
        (1, Framing(frozenset(FrameKind), _UNFRAMED, content_ids=True)),
        (50, Framing(frozenset(FrameKind), _UNFRAMED, content_ids=True)),
    ],
    ids=["glue-1", "glue-50", "glue-apicurio-1", "confluent-50", "all-1", "all-50"],
)
def test_a_stage_is_one_compiled_method(spark, count, framing):
    versions = _versions(count)
    event = {f"s{at}": "a" for at in range(10)} | {f"n{at}": at for at in range(10)}
    decoder = Decoder(spark, versions)
    decoded = decode_frames(decoder, _frames(spark, frame(versions[0], event), framing))
    counted = _count(decoded, decoder)
    rows = decoder.project(counted).select("event.*", *COORDINATES)

    assert len(rows.columns) == 26 + count - 1
    for stages in (rows, decoded.filter(IS_ERROR)):
        sizes = _method_sizes(spark, stages)
        assert sizes
        assert max(sizes) < _HUGE_METHOD


@pytest.mark.parametrize(("width", "stages"), [(45, 1), (70, 2), (85, 2)])
def test_wide_records_without_headers_fit_too(spark, width, stages):
    schema = make_record(*((f"s{at}", ["null", "string"]) for at in range(width)))
    decoder = Decoder(spark, [make_version(1, schema)])
    frames = split_frames(make_topic(spark, [b"?"]).drop("headers"), _GLUE)
    counted = _count(decode_frames(decoder, frames), decoder)

    sizes = _method_sizes(spark, decoder.project(counted).select("event.*", *COORDINATES))

    assert decoder.width == width
    assert len(sizes) == stages
    assert max(sizes) < _HUGE_METHOD


def test_a_filter_by_status_decodes_each_record_once(spark):
    (version,) = _versions(1)
    decoder = Decoder(spark, [version])
    decoded = decoder.decode(_frames(spark, b"?"))

    errors = decoded.filter(IS_ERROR).select("offset", "status")

    assert [tuple(row) for row in errors.collect()] == [(0, "unknown-framing")]
    for rows in (errors, decoder.select(decoded)):
        plan = rows._jdf.queryExecution().optimizedPlan().toString()
        assert plan.count("decoder_") == 1


@pytest.mark.parametrize("condition", [f"status = '{FrameStatus.FRAMED}'", "schema IN (X'01')"])
def test_a_filter_by_frame_does_not_split_it_again(spark, condition):
    framing = Framing(frozenset(FrameKind), _UNFRAMED, content_ids=True)

    found = _frames(spark, b"?", framing).filter(condition).select("offset")

    plan = found._jdf.queryExecution().optimizedPlan().toString()
    assert len(plan) < 5_000, "a filter has the columns of a frame written out"


def _count(decoded, decoder):
    """Filter decoded records as the first pass of a part does."""
    keeper = make_keeper(decoded, decoder)
    kept = {"records": keeper.condition} if keeper else {}
    return FilterCounts(_FILTERS | kept).filter(decoded)


def _frames(spark, value, framing=_GLUE):
    """A topic's frames as the job reads them, with headers."""
    return split_frames(make_topic(spark, [value]), framing)


def _method_sizes(spark, rows):
    """The largest method of each stage that Spark compiles as a whole."""
    debug = getattr(spark._jvm.org.apache.spark.sql.execution.debug, "package$")
    stages = getattr(debug, "MODULE$").codegenStringSeq(rows._jdf.queryExecution().executedPlan())
    return [stages.apply(at)._3().maxMethodCodeSize() for at in range(stages.size())]
