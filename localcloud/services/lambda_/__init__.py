"""AWS Lambda: moto keeps the records of functions, they run here, and mappings are ours."""

from __future__ import annotations

from localcloud.services.lambda_ import code, invoke, mappings

__all__ = ["code", "invoke", "mappings"]
