"""The request of CreateCrawler and UpdateCrawler: checked, with its defaults."""

from __future__ import annotations

import json
from typing import Any

from localcloud.door.constraints import check_params
from localcloud.door.errors import AwsError
from localcloud.door.operations import Call
from localcloud.identity.permissions import may_be_assumed_by_service
from localcloud.services.glue.crawlers.model import role_arn

INVALID = "InvalidInputException"
SERVICE = "glue.amazonaws.com"
COMBINE = "CombineCompatibleSchemas"
_DEFAULTS: dict[str, Any] = {
    "Classifiers": [],
    "LineageConfiguration": {"CrawlerLineageSettings": "DISABLE"},
    "RecrawlPolicy": {"RecrawlBehavior": "CRAWL_EVERYTHING"},
    "SchemaChangePolicy": {},
}
_POLICY = {"UpdateBehavior": "UPDATE_IN_DATABASE", "DeleteBehavior": "DEPRECATE_IN_DATABASE"}
_NOT_IMITATED = ("Classifiers", "CrawlerSecurityConfiguration", "LakeFormationConfiguration")
_PATH = {"Path", "Exclusions"}
# The settings of `Configuration` that change what a crawl does here, with their values.
_OPTIONS: dict[tuple[str, ...], set[Any]] = {
    ("Grouping", "TableGroupingPolicy"): {COMBINE},
    ("CrawlerOutput", "Partitions", "AddOrUpdateBehavior"): {"InheritFromTable"},
    ("CrawlerOutput", "Tables", "AddOrUpdateBehavior"): {"MergeNewColumns"},
    ("CreatePartitionIndex",): {False},
}


def read_request(call: Call, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the settings of a crawler: those before, changed as the request says.

    Raises:
        AwsError: AWS refuses the request, or localcloud does not imitate what it asks for.
    """
    check_params(call, INVALID)
    given = {name: value for name, value in call.params.items() if name != "Tags"}
    settings = {**_DEFAULTS, **(before or {}), **given}
    settings["SchemaChangePolicy"] = _POLICY | settings["SchemaChangePolicy"]
    if not settings.get("DatabaseName"):
        raise AwsError(INVALID, "localcloud's crawlers need a DatabaseName")
    for name in _NOT_IMITATED:
        if any(settings.get(name, {}).values()) if name[0] == "L" else settings.get(name):
            raise AwsError(INVALID, f"localcloud's crawlers have no {name}")
    _check_targets(settings["Targets"])
    _check_recrawl(settings)
    if settings["LineageConfiguration"].get("CrawlerLineageSettings") == "ENABLE":
        raise AwsError(INVALID, "localcloud's crawlers have no LineageConfiguration")
    read_options(settings)
    check_role(call.account, settings["Role"])
    return settings


def check_role(account: str, role: str) -> None:
    """Refuse a role that Glue cannot assume."""
    if not may_be_assumed_by_service(role_arn(account, role), SERVICE):
        raise AwsError(
            INVALID,
            "Service is unable to assume provided role. Please verify role's TrustPolicy",
        )


def read_options(settings: dict[str, Any]) -> set[str]:
    """Return the options that `Configuration` sets, such as CombineCompatibleSchemas."""
    text = settings.get("Configuration") or "{}"
    try:
        found = json.loads(text)
        if not isinstance(found, dict):
            raise ValueError(text)
    except ValueError as error:
        raise AwsError(INVALID, f"Unable to parse crawler configuration: {text}") from error
    version = found.pop("Version", None)
    if found and version != 1:
        raise AwsError(INVALID, f"Unsupported version of crawler configuration: {version}")
    options = set()
    for path, value in _flatten(found):
        if value not in _OPTIONS.get(path, ()):
            raise AwsError(
                INVALID,
                f"localcloud's crawlers do not have the configuration {'.'.join(path)} = {value}",
            )
        options.add(str(value))
    return options


def _flatten(found: dict[str, Any], above: tuple[str, ...] = ()) -> list[tuple[Any, Any]]:
    pairs: list[tuple[Any, Any]] = []
    for name, value in found.items():
        path = (*above, name)
        pairs += _flatten(value, path) if isinstance(value, dict) else [(path, value)]
    return pairs


def _check_targets(targets: dict[str, Any]) -> None:
    others = sorted(name for name, found in targets.items() if found and name != "S3Targets")
    if others:
        raise AwsError(
            INVALID, f"localcloud's crawlers read S3Targets, expected no {', '.join(others)}"
        )
    if not targets.get("S3Targets"):
        raise AwsError(INVALID, "Must specify at least one crawl target")
    for target in targets["S3Targets"]:
        if more := sorted(name for name, value in target.items() if value and name not in _PATH):
            raise AwsError(INVALID, f"localcloud's crawlers have no {', '.join(more)} of a target")
        if not target.get("Path", "").startswith("s3://"):
            raise AwsError(INVALID, f"Unsupported S3 path: {target.get('Path')}")


def _check_recrawl(settings: dict[str, Any]) -> None:
    behavior = settings["RecrawlPolicy"].get("RecrawlBehavior", "CRAWL_EVERYTHING")
    if behavior == "CRAWL_EVENT_MODE":
        raise AwsError(INVALID, "localcloud's crawlers have no RecrawlBehavior CRAWL_EVENT_MODE")
    if behavior == "CRAWL_NEW_FOLDERS_ONLY" and set(settings["SchemaChangePolicy"].values()) != {
        "LOG"
    }:
        raise AwsError(
            INVALID,
            "The SchemaChangePolicy for CRAWL_NEW_FOLDERS_ONLY should be LOG for both "
            "UpdateBehavior and DeleteBehavior",
        )
