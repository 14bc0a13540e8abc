"""What a plan says is what registration then does: 500 pairs of folders, under all rules."""

from __future__ import annotations

import copy
import json
import random
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import (
    IncompatibleSchemaError,
    PenstockError,
    SchemaConflictError,
    SchemaError,
    SchemaRefusedError,
)
from penstock.extensions.schema_plan.baseline import use_registry
from penstock.extensions.schema_plan.operation import (
    Plan,
    PlannedSchema,
    State,
    apply_plan,
    make_plan,
)
from penstock.extensions.schema_plan.verdict import (
    CONTRADICTION,
    READINGS,
    REFUSED_VERSION,
    _check_modes,
)
from penstock.operations import Programs
from penstock.registry import ComparedWith, SchemaStore, check_rule
from penstock.schemas import Compatibility, canonical_form, load_schema
from tests.oracle.evolve import COMPATIBLE, INCOMPATIBLE, evolve
from tests.oracle.generate import Maker
from tests.stubs.schema_stores import MemoryAdmin

_NAMES = ("orders", "pump")


def _make_world(rng: random.Random, maker: Maker) -> tuple[SchemaStore, dict[str, Any]]:
    """Return a store with a history of each schema, and the newest definitions."""
    store = SchemaStore(compared_with=rng.choice(list(ComparedWith)))
    newest = {}
    for name in _NAMES[: rng.randint(1, 2)]:
        versions = [maker.record(rng.choice((0, 1, 2, 2, 2)))]
        for _ in range(rng.randint(0, 3)):
            versions.append(evolve(versions[-1], maker, _choose_change(rng)))
        mode = rng.choice([*Compatibility] * 2 + [Compatibility.BACKWARD] * 4)
        for version in versions:
            if _is_usable(version):
                subject, text = f"memory/{name}", canonical_form(load_schema(json.dumps(version)))
                # Some histories hold versions that a rule would refuse, or that contradict.
                history_mode = Compatibility.NONE if rng.random() < 0.5 else Compatibility.BACKWARD
                if store.create(subject, text, history_mode) is None:
                    store.update(subject, mode=history_mode)
                    store.add(subject, text)
        if f"memory/{name}" in store._schemas:
            numbers = [each.number for each in store.list_versions(f"memory/{name}")]
            store.update(f"memory/{name}", mode=mode, checkpoint=rng.choice([1, 1, *numbers]))
        newest[name] = versions[-1]
    return store, newest


def _choose_change(rng: random.Random) -> str:
    return rng.choice([*COMPATIBLE, *COMPATIBLE, *INCOMPATIBLE])


def _is_usable(definition: Any) -> bool:
    try:
        load_schema(json.dumps(definition))
    except SchemaError:
        return False
    return True


def _write_folder(folder: Path, rng: random.Random, maker: Maker, newest: dict[str, Any]) -> bool:
    """Write changed definitions, some with a type in a file of its own; False without any."""
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "types").mkdir(parents=True)
    definitions = {}
    for name, before in newest.items():
        after = copy.deepcopy(before)
        if rng.random() < 0.85:
            after = evolve(before, maker, _choose_change(rng))
        if _is_usable(after):
            definitions[name] = after
    if rng.random() < 0.2:
        definitions["fresh"] = maker.record(2)
    for name, definition in definitions.items():
        if rng.random() < 0.3:
            _move_out(folder, definition)
        (folder / f"{name}.avsc").write_text(json.dumps(definition, indent=rng.choice([None, 2])))
    return bool(definitions)


def _move_out(folder: Path, definition: dict[str, Any]) -> None:
    """Put a type of a field into a file of its own, where no other text refers to it."""
    for field in definition["fields"]:
        if isinstance(field["type"], dict) and "name" in field["type"]:
            moved = field["type"]
            if json.dumps(definition).count(f'"{moved["name"]}"') == 1:
                (folder / "types" / f"{moved['name']}.avsc").write_text(json.dumps(moved))
                field["type"] = moved["name"]
            return


def _plan(folder: Path, admin: MemoryAdmin) -> Plan:
    before = admin.writes
    plan = make_plan(folder, use_registry(admin), Programs())
    assert admin.writes == before  # a plan makes no call that writes
    assert plan.problems == ()
    return plan


def _register(each: PlannedSchema, store: SchemaStore) -> tuple[str, int | None]:
    """Return what a registry does with a definition, and the number of the version."""
    try:
        found = MemoryAdmin(store).register(each.name, load_schema(each.definition))
    except SchemaConflictError:
        return "contradicts", None
    except (IncompatibleSchemaError, SchemaRefusedError):
        return "refused", None
    return "registered" if found.created else "same", found.version.number


def _predict(each: PlannedSchema, compared: ComparedWith) -> tuple[str, int | None]:
    """Return what a plan says that a registry with this reading of its rule does."""
    if each.state is State.SAME:
        return "same", each.number
    if each.state is not State.FORBIDDEN:
        return "registered", each.number
    enforced = [finding for finding in each.findings if finding.is_enforced]
    if any(finding.rule != CONTRADICTION for finding in enforced):
        return "refused", None
    if enforced:
        return "contradicts", None
    readings = {
        reading
        for reading in READINGS
        for finding in each.findings
        if f"only: with the {reading}" in finding.message
    }
    return ("registered", each.number) if compared not in {*readings, ComparedWith.BOTH} else (
        "refused", None
    )  # fmt: skip


@pytest.mark.parametrize("turn", range(10))
def test_500_pairs_of_folders_are_registered_as_planned(
    turn: int, seeded: random.Random, trials: Callable[[int, int], int], tmp_path: Path
) -> None:
    rng = seeded
    seen: Counter[str] = Counter()
    differences = []
    for pair in range(trials(50, 500)):
        maker = Maker(rng)
        store, newest = _make_world(rng, maker)
        # Two pull requests from one state: the second one is planned again before it is applied.
        folders = [
            folder
            for folder in (tmp_path / "one", tmp_path / "two")
            if _write_folder(folder, rng, maker, newest)
        ]
        stale = [_plan(folder, MemoryAdmin(store)) for folder in folders]
        for folder, old in zip(folders, stale, strict=True):
            plan = _plan(folder, MemoryAdmin(store))
            seen["stale"] += plan != old
            for each in plan.schemas:
                predicted = _predict(each, store.compared_with)
                found = _register(each, store)
                seen[found[0]] += 1
                if _differ(each, predicted, found):
                    differences.append((pair, each.name, predicted, found, each.findings))

    assert differences == []
    assert min(seen[each] for each in ("registered", "same", "refused", "stale")) > 0


def _differ(
    each: PlannedSchema, predicted: tuple[str, int | None], found: tuple[str, int | None]
) -> bool:
    """Compare; one that stays or was refused is not compared with others, as register does."""
    was_refused = any(finding.rule == REFUSED_VERSION for finding in each.findings)
    stays = predicted[0] == "same" or was_refused
    return predicted != found and not (stays and found[0] == "contradicts")


def test_a_plan_is_applied_as_it_says(seeded: random.Random, tmp_path: Path) -> None:
    rng = seeded
    counts: Counter[State] = Counter()
    for _ in range(40):
        maker = Maker(rng)
        store, newest = _make_world(rng, maker)
        if not _write_folder(tmp_path / "one", rng, maker, newest):
            continue
        plan = _plan(tmp_path / "one", MemoryAdmin(store))
        counts.update(each.state for each in plan.schemas)
        wanted = {
            each.name: each.number
            for each in plan.schemas
            if each.state in {State.NEW, State.CHANGED}
        }
        try:
            applied = {each.name: each.number for each in apply_plan(plan, MemoryAdmin(store))}
        except PenstockError:
            assert plan.count(State.FORBIDDEN)
            continue
        assert applied == wanted
        again = _plan(tmp_path / "one", MemoryAdmin(store))
        assert {each.state for each in again.schemas} == {State.SAME}
    assert min(counts[each] for each in (State.NEW, State.CHANGED, State.FORBIDDEN)) > 0


def test_all_modes_are_judged_as_the_rule_says(seeded: random.Random) -> None:
    rng = seeded
    refused = 0
    for _ in range(40):
        maker = Maker(rng)
        versions = [maker.record(rng.choice((0, 1, 2, 2, 2)))]
        for _ in range(3):
            versions.append(evolve(versions[-1], maker, _choose_change(rng)))
        usable = [load_schema(json.dumps(each)) for each in versions if _is_usable(each)]
        available = dict(enumerate(usable[:-1], 1))
        checkpoint = rng.randint(1, 4)
        matrix = _check_modes(usable[-1], available, checkpoint)
        for mode in Compatibility:
            for reading in READINGS:
                found = check_rule(usable[-1], available, mode, checkpoint, reading)
                refused += bool(found)
                assert matrix[mode][reading] == found
    assert refused > 0
