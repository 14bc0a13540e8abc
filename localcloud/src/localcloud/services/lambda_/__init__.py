"""AWS Lambda: moto keeps the functions' records; functions and Kafka mappings run here."""

from __future__ import annotations

from localcloud.services.lambda_ import code, concurrency, invoke, mappings

__all__ = ["code", "concurrency", "invoke", "mappings"]
