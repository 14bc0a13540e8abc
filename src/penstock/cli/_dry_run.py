"""`penstock produce --dry-run`: print the schema version, the changes and the verdict of events."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from typing import Any

from penstock.cli.terminal import Progress, print_line
from penstock.cli.values import print_json
from penstock.operations import (
    EventLines,
    GeneratedEvents,
    PreviewedEvent,
    ProduceSettings,
    preview_events,
)


def preview(
    settings: ProduceSettings,
    source: EventLines | GeneratedEvents,
    flags: argparse.Namespace,
    max_records: int | None,
    is_stopped: Callable[[], bool],
) -> int:
    """Print what would become of each event; return 1 if one would not be written."""
    verdicts: Counter[str] = Counter()
    with Progress(prints_lines=not flags.quiet) as bar:
        bar.show("events", 0, max_records)
        for batch in preview_events(
            settings, source, max_records=max_records, is_stopped=is_stopped
        ):
            for each in batch:
                described = each.describe()
                verdicts[described["verdict"]] += 1
                if "schema" not in described or not flags.quiet:
                    bar.clear()
                    _show(each, described, source, flags.output)
            bar.show("events", verdicts.total(), max_records)
    known, new = verdicts.pop("known version", 0), verdicts.pop("new version", 0)
    refused = verdicts.total()
    if flags.output == "json":
        print_json({"summary": {"knownVersion": known, "newVersion": new, "refused": refused}})
    else:
        counts = f"{known:,} with a known version, {new:,} with a new one, {refused:,} refused"
        print_line(f"{counts}; nothing was sent or registered")
    return 1 if refused else 0


def _show(
    event: PreviewedEvent,
    described: dict[str, Any],
    source: EventLines | GeneratedEvents,
    output: str,
) -> None:
    if output == "json":
        print_json(described)
    elif "schema" in described:
        print_line(f"{source.locate(event.number)}: {_describe_version(described)}")
    else:
        error = described["error"]
        words = [f"{described['verdict']}: {error['message']}", *error["diff"]]
        print_line(f"{source.locate(event.number)}: {'  '.join(words)}")


def _describe_version(described: dict[str, Any]) -> str:
    schema = described["schema"]
    words = [f"{described['verdict']} {schema['name']} v{schema['version']}"]
    words += schema.get("diff", ())
    if warning := schema.get("warning"):
        words.append(f"warning: {warning}")
    return "  ".join(words)
