"""Which whole numbers each of Avro's number types holds without rounding."""

from __future__ import annotations

from typing import Final

INTEGER_LIMITS: Final = {
    "int": (-(2**31), 2**31 - 1),
    "long": (-(2**63), 2**63 - 1),
    # Beyond these some whole numbers are missing. A few above are not, but a range can be told to
    # a person, and Spark, which sees the number only once it is a double, can hold to it too.
    "float": (-(2**24), 2**24),
    "double": (-(2**53), 2**53),
}


_SHOWN_BITS: Final = 128


def number_text(number: int) -> str:
    """Write a whole number for a message; Python itself refuses to write more than 4,300 digits."""
    bits = number.bit_length()
    return str(number) if bits <= _SHOWN_BITS else f"a whole number of {bits:,} bits"


def holds(kind: str, number: int) -> bool:
    """Whether a number type holds a whole number, and all that are smaller, exactly."""
    low, high = INTEGER_LIMITS[kind]
    return low <= number <= high
