"""Outputs of both roots, as `terraform output -json` prints them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def _run(*words: str, program: str = "consume", **more: Any) -> dict[str, Any]:
    place = f"s3://artifacts/jobs/0123/{program}.py"
    return {"arguments": [*words], "program": place, "streaming": True, **more}


def make_consumer(
    *,
    run: dict[str, Any] | None = None,
    rules: Any = None,
    jobs: tuple[str, ...] = ("consume", "routed", "staged"),
) -> dict[str, Any]:
    """Return the outputs of a consumer with these jobs, a function for two of them, a client."""
    tables = ["--lake-table", "lake.readings", "--dynamodb-table", "p-readings"]
    consume = run or _run(*tables, "--errors-table", "errors", "--contract", "contract.json")
    routed = _run(
        "--lake-table", "lake.{table}", "--dynamodb-table", "p-{table}", "--route",
        "pump=pumps,sale=sales", "--topics", "plant,sensor", "--key", "id", "--event-time", "none",
        "--sort-name", "none", "--mode", "upsert",
    )  # fmt: skip
    staged = _run("--plan", "s3://artifacts/files/plan.json", "--topics", "sensor", program="stage")
    named = {
        "consume": {"runs": {"consume": consume, "replay": _run("x", program="replay")}},
        "routed": {"runs": {"routed": routed}},
        "staged": {"runs": {"staged": staged}},
    }
    odd = {"name": "g", "table": "p-odd", "mappings": {"sensor": "m"}}
    return {
        "consumer": "analytics",
        "clients": {"report": {"reads": ["sensor", "plant"]}},
        "functions": {
            "consumer": {"name": "f", "table": "p-readings", "mappings": {"sensor": "m"}},
            **({"consumer-odd": odd} if "routed" in jobs else {}),
        },
        "platform": {
            "brokers": {"topics": ["sensor", "plant"]},
            "jobs": {"named": {name: named[name] for name in jobs}},
        },
        "quality": {"rules": rules or {}, "name": "consumer-quality"},
    }


def make_producer() -> dict[str, Any]:
    """Return the outputs of a producer, one of whose consumers has no outputs here."""
    settings = {"PENSTOCK_TOPIC": "plant", "PENSTOCK_SCHEMA_NAME": "pump"}
    return {
        "contracts": {"analytics": {"topics": ["sensor"]}, "audit": {"topics": ["plant"]}},
        "platform": {"prefix": "penstock"},
        "profiles": {
            "pumps": {**settings, "PENSTOCK_VERSION_BUDGET": "7"},
            "sensors": {"PENSTOCK_TOPIC": "sensor", "PENSTOCK_SCHEMA_NAME": "sensor"},
            "without": {"AWS_REGION": "eu-central-1"},
        },
    }


def write_outputs(path: Path, values: dict[str, Any]) -> Path:
    """Write outputs to a file, and return it."""
    described = {name: {"sensitive": False, "value": value} for name, value in values.items()}
    path.write_text(json.dumps(described))
    return path
