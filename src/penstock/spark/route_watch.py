"""Holds a batch to the routes that it was begun with.

A table that has its part of a batch takes no more of it. So a batch that is half done under some
routes and goes on under others would be missing where a table gets another schema's records.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from penstock.errors import CheckpointError
from penstock.spark.checkpoint import Checkpoint
from penstock.spark.state_files import StateFiles


def check_routes(
    files: StateFiles, checkpoint: Checkpoint, batch: int, routes: Mapping[str, str]
) -> None:
    """Keep the routes that a job starts with, whose next batch is this one.

    Each change makes a file, `NUMBER.json`, with the tables by the schemas' names.

    Raises:
        CheckpointError: that batch is half done under other routes.
    """
    names = files.names()
    text = json.dumps(dict(sorted(routes.items())))
    kept = files.read(names[-1]) if names else None
    if kept == text:
        return
    if kept is not None and checkpoint.is_begun(batch):
        raise CheckpointError(
            f"batch {batch} of the checkpoint {checkpoint.folder} is half done with the routes "
            f"{kept}, found {text}, expected the same until it is over: start once with those and "
            "--trigger available-now, then with these"
        )
    files.append(text)
