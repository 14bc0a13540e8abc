"""A page for each reason why a record or an event failed: what happened, and what to do.

A dead letter has a `Reason`; an event that was not written has the name of an error's class.
"""

from penstock.reasons.pages import Page, find_page, list_pages

__all__ = ["Page", "find_page", "list_pages"]
