"""Glue's registry over a localcloud that fails as it is told, in time that passes when told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock.attempts import Attempts
from penstock.registry import GlueRegistry, GlueSettings
from penstock.schemas import Compatibility
from tests.fixtures.glue_api import GlueApi


@pytest.fixture
def build(
    glue_api: GlueApi, glue_client: Any, attempts: Callable[..., Attempts]
) -> Callable[..., GlueRegistry]:
    def build(
        *allow: str, compatibility: Compatibility | None = Compatibility.NONE
    ) -> GlueRegistry:
        settings = GlueSettings("plant", allow=allow, compatibility=compatibility)
        return GlueRegistry(
            settings, glue_client, attempts=attempts(0.1, 3, 20), pending=attempts()
        )

    return build


@pytest.fixture
def registry(build: Callable[..., GlueRegistry]) -> GlueRegistry:
    return build()
