"""Answers of boto3's clients that come in pages."""

from __future__ import annotations

from typing import Any


def ask_all_pages(client: Any, operation: str, **words: Any) -> Any:
    """Call an operation of a client, and return its answer with the items of all pages."""
    if client.can_paginate(operation):
        return client.get_paginator(operation).paginate(**words).build_full_result()
    answer = part = getattr(client, operation)(**words)
    while token := part.get("NextToken"):  # an operation whose pages boto3 does not know
        part = getattr(client, operation)(**words, NextToken=token)
        for name, items in part.items():
            if isinstance(items, list):
                answer.setdefault(name, []).extend(items)
    return answer
