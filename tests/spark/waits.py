"""A transaction that writes a row, and waits for others before it commits."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from localcloud.testing import wait_until

# The index of the email comes before that of the key: the row is in the log before both are asked.
CREATE_WAITS = """
CREATE TABLE waits (id int NOT NULL, email text UNIQUE);
ALTER TABLE waits ADD PRIMARY KEY (id);
INSERT INTO waits VALUES (1, 'a');
"""
_HOLD = "BEGIN; INSERT INTO waits VALUES (2, 'x'); SELECT pg_sleep(600);"
_LET_GO = """
SELECT pg_cancel_backend(pid) FROM pg_stat_activity
WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()
"""


def insert_while_deleting(capture):
    """Insert a row of a key that another transaction deletes after it is in the log."""
    with ThreadPoolExecutor(2) as pool:
        held = pool.submit(capture.query, _HOLD)
        _wait_for(capture, "wait_event = 'PgSleep'", "one holds the email")
        inserted = pool.submit(capture.query, "INSERT INTO waits VALUES (1, 'x')")
        _wait_for(capture, "wait_event_type = 'Lock'", "another one waits for it")
        capture.query("DELETE FROM waits WHERE id = 1")
        capture.query(_LET_GO)
        assert held.exception()
        inserted.result()


def _wait_for(capture, condition, what):
    count = f"SELECT count(*) FROM pg_stat_activity WHERE {condition}"
    wait_until(what, lambda: capture.query(count) == "1")
