"""The endpoint URL and the region of an AWS service."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from botocore.exceptions import NoRegionError

if TYPE_CHECKING:
    from botocore.session import Session

# The regions of the partition `aws`; of other names botocore knows more.
_REGION = re.compile(r"(us|eu|ap|sa|ca|me|af|il|mx)-[a-z]+-[0-9]+")
_SUFFIX = "amazonaws.com"
_LABEL = "[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_ENDPOINT = re.compile(rf"https?://({_LABEL}\.){{0,9}}{_LABEL}(:[0-9]{{1,5}})?/?")

# Each of these settings changes the endpoint.
_SPECIAL = (
    "ignore_configured_endpoint_urls",
    "use_dualstack_endpoint",
    "use_fips_endpoint",
)


class _NoRegionError(NoRegionError):
    """No region is set; the message names the variable for it."""

    fmt = "found no region, expected AWS_REGION"


def find_address(session: Session, service: str, endpoint: str | None = None) -> tuple[str, str]:
    """Return the endpoint URL of a service, and the region that its requests are signed for.

    botocore finds both when it builds a client, which takes 0.2 s for Glue. In a Lambda function,
    which has environment variables and no configuration file, this function needs no client, and
    in most regions not even the import of botocore's modules.

    Raises:
        NoRegionError, InvalidRegionError: no region is set, or its name is not valid.
        ValueError: the endpoint is not a URL.
    """
    region = session.get_config_variable("region")
    if not region:
        raise _NoRegionError
    if not _REGION.fullmatch(region):
        from botocore.utils import validate_region_name  # noqa: PLC0415

        validate_region_name(region)
    endpoint = endpoint or _find_endpoint(session, service, region)
    if not _is_endpoint(endpoint):
        raise ValueError(f"Invalid endpoint: {endpoint}")
    return endpoint, region


def _is_endpoint(url: str) -> bool:
    if _ENDPOINT.fullmatch(url):
        return True
    from botocore.utils import is_valid_endpoint_url  # noqa: PLC0415

    return bool(is_valid_endpoint_url(url))


def _find_endpoint(session: Session, service: str, region: str) -> str:
    if session.full_config["profiles"] or any(map(session.get_config_variable, _SPECIAL)):
        client = session.create_client(service)
        client.close()
        return str(client.meta.endpoint_url)
    for variable in (f"AWS_ENDPOINT_URL_{service.upper()}", "AWS_ENDPOINT_URL"):
        if configured := os.environ.get(variable):
            return configured
    return f"https://{service}.{region}.{_find_suffix(session, region)}"


def _find_suffix(session: Session, region: str) -> str:
    """Return the domain of a region's partition; of the first partition if none matches."""
    if _REGION.fullmatch(region):
        return _SUFFIX
    partitions = session.get_component("data_loader").load_data("partitions")["partitions"]
    found = [each for each in partitions if re.match(each["regionRegex"], region)]
    return str((found or partitions)[0]["outputs"]["dnsSuffix"])
