"""The rates of a core, which `make bench` measured, from the file beside this module."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Rates:
    """Records of 200 bytes and 20 fields that one core does in a second, by the part.

    Attributes:
        lake_rows: from Kafka into an Iceberg table, by a Spark job.
        produced_events: JSON events in lists into Kafka, by the producer's code.
        single_events: the same, one in each call of the function.
        function_rows: from a mapping's event into DynamoDB, by the consumer's code.
        growth_of_a_byte: how much longer a record takes for each byte beyond 200, as a share.
    """

    lake_rows: float
    produced_events: float
    single_events: float
    function_rows: float
    growth_of_a_byte: float


def read_rates() -> Rates:
    """Return the rates that come with Penstock."""
    return Rates(**tomllib.loads(files(__package__).joinpath("rates.toml").read_text("utf-8")))
