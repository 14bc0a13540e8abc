"""The rungs by the question that they answer, in the order in which they run."""

from __future__ import annotations

from itertools import chain

from bench.ladder import Rung
from bench.rungs.batches import BATCHES
from bench.rungs.changes import CHANGES
from bench.rungs.console import CONSOLE
from bench.rungs.decoding import DECODING
from bench.rungs.frames import FRAMES
from bench.rungs.growth import GROWTH
from bench.rungs.latency import LATENCY
from bench.rungs.peers import PEERS
from bench.rungs.producer import PRODUCER
from bench.rungs.producing import PRODUCING
from bench.rungs.routes import ROUTES
from bench.rungs.rows import ROWS
from bench.rungs.schemas import SCHEMAS
from bench.rungs.staged import STAGED
from bench.rungs.windows import WINDOWS

QUESTIONS: dict[str, tuple[Rung, ...]] = {
    "dynamodb": ROWS,
    "producing": (*PRODUCER, *PRODUCING),
    "catalog": SCHEMAS,
    "decoding": DECODING,
    "sent": (*FRAMES, *ROUTES),
    "sinks": BATCHES,
    "peers": PEERS,
    "cdc": CHANGES,
    "latency": LATENCY,
    "staging": STAGED,
    "growth": GROWTH,
    "sales": WINDOWS,
    "console": CONSOLE,
}
RUNGS: tuple[Rung, ...] = tuple(chain.from_iterable(QUESTIONS.values()))
