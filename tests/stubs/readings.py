"""The base fields of a reading, for tests of schemas."""

from __future__ import annotations

from penstock.records import READING, base_fields

BASE_FIELDS = base_fields(READING)
