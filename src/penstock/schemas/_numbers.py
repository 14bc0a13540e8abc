"""The whole numbers that each of Avro's number types holds without rounding."""

from __future__ import annotations

from typing import Final

INTEGER_LIMITS: Final = {
    "int": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
    # Beyond these limits some whole numbers are rounded. A few larger ones are exact, but a range
    # can be explained in a message, and Spark can check it too, which sees only the double.
    "float": (-(2**24), 2**24),
    "double": (-(2**53), 2**53),
}


_SHOWN_BITS: Final = 128


def number_text(number: int) -> str:
    """Write a whole number for a message; Python does not write more than 4,300 digits."""
    bits = number.bit_length()
    return str(number) if bits <= _SHOWN_BITS else f"a whole number of {bits:,} bits"


def holds(kind: str, number: int) -> bool:
    """Return whether a number is in the range in which a type holds every whole number exactly."""
    low, high = INTEGER_LIMITS[kind]
    return low <= number <= high
