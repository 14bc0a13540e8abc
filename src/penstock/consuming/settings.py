"""What a consumer has to be told."""

from __future__ import annotations

from dataclasses import dataclass

from penstock.settings import Settings, setting


@dataclass(frozen=True, slots=True)
class ConsumerSettings(Settings):
    """Which registry to ask and which tables to write."""

    registry: str = setting(
        "PENSTOCK_REGISTRY",
        "URL of the schema registry, such as glue://NAME?role_arn=...&external_id=...",
        secret=True,  # it may hold an external id
    )
    readings_table: str = setting("PENSTOCK_READINGS_TABLE", "DynamoDB table of the readings")
    errors_table: str = setting(
        "PENSTOCK_ERRORS_TABLE", "DynamoDB table of the records that were given up"
    )
