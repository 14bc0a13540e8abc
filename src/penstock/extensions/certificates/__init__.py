"""Client certificates of a private CA, issued into the secret of a program."""

from __future__ import annotations
