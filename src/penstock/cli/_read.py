"""`penstock read`: print the records of a topic."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

import jmespath

from penstock.cli.arguments import add_output, expect, expect_count
from penstock.cli.terminal import Progress, end_with_reader, end_with_stdin, print_line
from penstock.cli.values import (
    describe_bytes,
    describe_headers,
    describe_value,
    print_json,
    show_bytes,
    show_moment,
)
from penstock.errors import OperationError
from penstock.operations import ReadRecord, ReadSettings, read_records
from penstock.schemas import write_value
from penstock.settings import parse_moment

_START = (
    "beginning, end, an offset, -N for the last N offsets of each partition, or a time such as "
    "2026-11-22T08:00:00+00:00"
)
HELP = "Print the records of a topic, each decoded with the schema that it was written in."


def add_to(parser: argparse.ArgumentParser, environ: Mapping[str, str]) -> None:
    parser.add_argument("topic", metavar="TOPIC", help="the topic to read")
    parser.add_argument(
        "--from",
        dest="start",
        type=expect(_parse_start, _START),
        default="beginning",
        metavar="PLACE",
        help=f"{_START} [%(default)s]",
    )
    parser.add_argument(
        "--partition", type=expect_count(0), metavar="N", help="one partition [all]"
    )
    parser.add_argument(
        "--count", type=expect_count(), metavar="N", help="stop after so many records [all]"
    )
    parser.add_argument(
        "--follow", action="store_true", help="wait for new records at the end, until ctrl-C"
    )
    parser.add_argument(
        "--end-with-stdin",
        action="store_true",
        help="with --follow: end when stdin does, which tells over ssh that nobody reads on",
    )
    parser.add_argument(
        "--where",
        type=expect(jmespath.compile, "an expression of JMESPath, such as value.id == 'a'"),
        metavar="EXPRESSION",
        help="only records whose JSON object it is true of, an expression of JMESPath such as "
        '"value.temperature > `30` && schema.version == `2`" [all]',
    )
    parser.add_argument(
        "--raw", action="store_true", help="print the bytes of each value too, as base64"
    )
    add_output(parser, "an object in a line for each record")
    ReadSettings.add_flags(parser)
    parser.set_defaults(run=partial(_run, environ))


def _parse_start(text: str) -> Any:
    if text in ("beginning", "end"):
        return text
    digits = text.removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() else parse_moment(text)


def _run(environ: Mapping[str, str], flags: argparse.Namespace) -> int:
    """Print each record; return 1 if one cannot be decoded."""
    settings = ReadSettings.from_flags(flags, environ)
    records = read_records(
        settings, flags.topic, flags.start, partition=flags.partition, follow=flags.follow
    )
    if flags.where:
        records = (each for each in records if _fits(flags.where, each))
    failed = 0
    # Ctrl-C is the way to end --follow; without it, what is printed is not all.
    ends = (KeyboardInterrupt,) if flags.follow else ()
    with Progress() as bar, suppress(*ends):
        if flags.follow:
            end_with_reader()
            if flags.end_with_stdin:
                end_with_stdin()
        bar.show("records", 0, flags.count)
        for number, record in enumerate(islice(records, flags.count), 1):
            if flags.output == "json":
                print_json(_make_json(record) | (_make_raw(record) if flags.raw else {}))
            else:
                print_line(_show(record, is_raw=flags.raw))
                sys.stdout.flush()
            failed += record.failure is not None
            bar.show("records", number, flags.count)
    return 1 if failed else 0


def _fits(expression: Any, found: ReadRecord) -> bool:
    try:
        return bool(expression.search(describe_value(_make_json(found))))
    except ValueError as error:
        place = found.record.source
        raise OperationError(f"--where cannot be evaluated for {place}: {error}") from error


def _show(found: ReadRecord, *, is_raw: bool) -> str:
    """Return one line: where, when, key, schema, value, headers, and bytes if they are wanted."""
    record = found.record
    words = [str(record.source), show_moment(record.timestamp_ms)]
    if found.key is not None:
        words.append(f"key={write_value(describe_value(found.key), ensure_ascii=False)}")
    elif record.key is not None:
        words.append(f"key={show_bytes(record.key)}")
    words += [f"{name}={show_bytes(value)}" for name, value in record.headers]
    if found.version:
        words.append(f"schema={found.version.name} v{found.version.number}")
    if found.failure:
        words.append(f"{found.failure.reason}: {found.failure.detail}; the value is")
    if record.value is None:
        words.append("tombstone")
    elif found.failure:
        words.append(show_bytes(record.value))
    else:
        words.append(write_value(describe_value(found.event), ensure_ascii=False))
    if is_raw and record.value is not None:
        words.append(f"raw={describe_value(record.value)}")
    return "  ".join(words)


def _make_raw(found: ReadRecord) -> dict[str, bytes | None]:
    """Return the bytes of a record, which JSON has in base64."""
    return {"rawKey": found.record.key, "raw": found.record.value}


def _make_json(found: ReadRecord) -> dict[str, Any]:
    """Return a record as one JSON object; bytes are text, or base64 if they are not UTF-8."""
    record, version, failure = found.record, found.version, found.failure
    return {
        "topic": record.source.topic,
        "partition": record.source.partition,
        "offset": record.source.offset,
        "timestamp": show_moment(record.timestamp_ms),
        "key": describe_bytes(record.key) if found.key is None else found.key,
        "headers": describe_headers(record.headers),
        "schema": version
        and {"name": version.name, "version": version.number, "id": str(version.key)},
        "failure": failure and {"reason": failure.reason, "detail": failure.detail},
        "value": describe_bytes(record.value) if failure else found.event,
    }
