"""The rungs, in the order in which they run; each part of the project adds its own."""

from __future__ import annotations

from bench.ladder import Rung
from bench.rungs.batches import BATCHES
from bench.rungs.core import CORE
from bench.rungs.decoding import DECODING
from bench.rungs.joins import JOINS
from bench.rungs.lake import LAKE
from bench.rungs.producer import PRODUCER
from bench.rungs.producing import PRODUCING
from bench.rungs.rows import ROWS
from bench.rungs.staged import STAGED
from bench.rungs.windows import WINDOWS

RUNGS: tuple[Rung, ...] = (
    *CORE, *ROWS, *JOINS, *PRODUCER, *PRODUCING, *DECODING, *BATCHES, *STAGED, *LAKE, *WINDOWS,
)  # fmt: skip
