"""A variable may be the URL of an object in which the setting is."""

from __future__ import annotations

import pytest

from penstock.operations import read_stored_settings, stored_settings


def test_only_a_named_variable_with_a_url_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    class Store:
        def __init__(self, bucket: str) -> None:
            self._bucket = bucket

        def get(self, where: str) -> bytes:
            return f"{self._bucket} has {where}".encode()

    monkeypatch.setattr(stored_settings, "ObjectStore", Store)
    environ = {"A": "s3://bucket/files/a.json", "B": "{}", "OTHER": "s3://lake/reports"}

    assert read_stored_settings(environ, "A", "B", "MISSING") == {
        "A": "bucket has s3://bucket/files/a.json",
        "B": "{}",
        "OTHER": "s3://lake/reports",
    }
