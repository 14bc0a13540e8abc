"""The folder of files that holds a part of a batch.

Once it has Spark's file `_SUCCESS`, it is complete and is not written again: Kafka may have removed
some of its records meanwhile. The file `_offsets` has the digest of the batch's offsets.
"""

from __future__ import annotations

from typing import Final

from penstock.errors import CheckpointError
from penstock.spark.state.files import StateFiles
from penstock.tables import BatchId

_OFFSETS: Final = "_offsets"


def complete_folder(files: StateFiles, batch: BatchId) -> None:
    """Mark a folder as complete with the offsets of its batch."""
    if batch.digest:
        files.write(_OFFSETS, batch.digest)
    files.complete()


def check_offsets(files: StateFiles, batch: BatchId) -> None:
    """Compare the offsets of a batch with those that its complete folder has, if any.

    Raises:
        CheckpointError: the folder has other records than the checkpoint says.
    """
    if difference := batch.find_difference(files.read(_OFFSETS) or ""):
        raise CheckpointError(
            f"{files.folder} has records {difference}; start again with an empty checkpoint and "
            "the offsets that follow what the folders have"
        )
