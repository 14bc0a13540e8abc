"""The rooms of `penstock`, and those that each of them may import.

`tests/unit/structure/test_imports.py` holds the code to it; CONTRIBUTING.md shows it.
"""

from __future__ import annotations

_BOTTOM = {"errors"}
_PURE = _BOTTOM | {"framing", "schemas"}
_VALUES = _PURE | {"records"}
_EDGES = _VALUES | {"attempts", "aws", "contract", "credentials", "progress", "settings"}
MAY_IMPORT = {
    "errors": set(),
    "attempts": set(),
    "progress": set(),
    "packages": _BOTTOM,
    "reasons": _BOTTOM,
    "settings": _BOTTOM,
    "contract": _BOTTOM | {"settings"},
    "credentials": _BOTTOM,
    "aws": _BOTTOM | {"attempts", "credentials"},
    "rebuilt": {"credentials"},
    "framing": _BOTTOM,
    "schemas": _BOTTOM,
    "records": _PURE | {"settings"},
    "registry": _EDGES,
    "kafka": _EDGES,
    "sinks": _EDGES,
    "tables": _BOTTOM | {"schemas"},
    "producing": _EDGES | {"registry", "kafka"},
    "consuming": _EDGES | {"registry", "sinks"},
    "spark": _EDGES | {"registry", "kafka", "sinks", "consuming", "tables"},
    "operations": _EDGES | {"registry", "kafka", "sinks", "tables", "consuming", "producing"},
    "cli": {"errors", "settings", "schemas", "registry", "sinks", "operations", "reasons"},
    "extensions": _EDGES
    | {
        "registry",
        "kafka",
        "sinks",
        "consuming",
        "tables",
        "spark",
        "operations",
        "cli",
        "reasons",
    },
}
