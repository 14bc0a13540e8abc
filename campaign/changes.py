"""Transactions on two tables of PostgreSQL, from a seed.

Keys grow, and only the newest ones are changed, so that each change may be the last one of its row.
The topic of `actor` may get partitions: its log has no TRUNCATE.
"""

# ruff: noqa: S608 - all names and values are our own

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Final

TABLES: Final = ("film", "actor")
MOVED: Final = "actor"
CREATE: Final = """
CREATE TABLE film (id int PRIMARY KEY, title text NOT NULL, plot text, tags text[],
  rate numeric(5, 2), number int, changed timestamptz NOT NULL DEFAULT now());
ALTER TABLE film ALTER plot SET STORAGE EXTERNAL, ALTER tags SET STORAGE EXTERNAL;
CREATE TABLE actor (LIKE film INCLUDING ALL);
INSERT INTO film (id, title, number) SELECT n, 'first', n FROM generate_series(1, 5) AS n;
INSERT INTO actor SELECT * FROM film;
CREATE PUBLICATION penstock FOR TABLE film, actor;
"""
_FIRST_KEY: Final = 6
_CHANGED_KEYS: Final = 12
_LONG: Final = 2_200  # characters, which PostgreSQL keeps out of line
_ROLLED_BACK: Final = 0.1
_TRUNCATED: Final = 0.003


def make_transactions(rng: Random) -> Iterator[str]:
    """Yield the SQL of one transaction after the other."""
    keys = dict.fromkeys(TABLES, _FIRST_KEY)
    while True:
        statements = [_make_statement(rng, keys) for _ in range(rng.randint(1, 4))]
        end = "ROLLBACK" if rng.random() < _ROLLED_BACK else "COMMIT"
        yield f"BEGIN; {' '.join(statements)} {end};"


def _make_statement(rng: Random, keys: dict[str, int]) -> str:
    """Return a statement on a table; `keys` has the next key of each."""
    if rng.random() < _TRUNCATED:
        return "TRUNCATE film;"
    name = rng.choice(TABLES)
    key = rng.randrange(max(keys[name] - _CHANGED_KEYS, 1), keys[name])
    make, is_new = rng.choice(_KINDS)
    if is_new:
        keys[name] += 1
    return make(rng, name, key, keys[name] - 1) + ";"


def _insert(rng: Random, name: str, _: int, key: int) -> str:
    return (
        f"INSERT INTO {name} (id, title, plot, tags, rate, number) VALUES ({key},"
        f" 'new {rng.random()}', {_make_text(rng)}, ARRAY[{_make_text(rng)}, NULL], 0.99, {key})"
        f" ON CONFLICT DO NOTHING"
    )


def _insert_again(rng: Random, name: str, key: int, _: int) -> str:
    return _insert(rng, name, key, key)


def _update(rng: Random, name: str, key: int, _: int) -> str:
    return (
        f"UPDATE {name} SET title = '{rng.random()}', rate = {rng.randrange(9**5) / 100},"
        f" changed = now() WHERE id = {key}"
    )


def _update_long(rng: Random, name: str, key: int, _: int) -> str:
    text = _make_text(rng)
    return f"UPDATE {name} SET plot = {text}, tags = ARRAY[{text}, 'x'] WHERE id = {key}"


def _update_many(rng: Random, name: str, key: int, _: int) -> str:
    return f"UPDATE {name} SET number = number + {rng.randint(1, 9)} WHERE id >= {key}"


def _delete(_: Random, name: str, key: int, __: int) -> str:
    return f"DELETE FROM {name} WHERE id = {key}"


def _change_key(rng: Random, name: str, key: int, new: int) -> str:
    """A value out of line is not in the log of such a change, so it gets another one."""
    return f"UPDATE {name} SET id = {new}, plot = {_make_text(rng)}, tags = NULL WHERE id = {key}"


def _make_text(rng: Random) -> str:
    return f"repeat('{rng.randrange(10)}', {rng.choice([3, _LONG])})"


# How each statement is made, for a key that was used or for a new one.
_KINDS: Final[tuple[tuple[Callable[[Random, str, int, int], str], bool], ...]] = (
    *[(_insert, True)] * 6,
    (_insert_again, False),
    *[(_update, False)] * 7,
    *[(_update_long, False)] * 2,
    (_update_many, False),
    *[(_delete, False)] * 3,
    *[(_change_key, True)] * 2,
)
