"""Options of Java programs of seconds, most of whose work the optimizing compiler would be."""

from __future__ import annotations

SHORT_LIVED = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
