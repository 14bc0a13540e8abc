"""Where a service is."""

from __future__ import annotations

import os
import re

from botocore.exceptions import NoRegionError
from botocore.session import Session
from botocore.utils import is_valid_endpoint_url, validate_region_name

# Each makes other addresses than the usual ones.
_SPECIAL = (
    "ignore_configured_endpoint_urls",
    "use_dualstack_endpoint",
    "use_fips_endpoint",
)


def find_address(session: Session, service: str, endpoint: str | None = None) -> tuple[str, str]:
    """Give the URL of a service, and the region that its requests are signed for.

    botocore knows, once it has built a client of the service, which takes 0.2 s for Glue's. In a
    Lambda, which has variables and no configuration file, the answer is as short as it is here.

    Raises:
        NoRegionError, InvalidRegionError: no region is set, or none that can be.
        ValueError: the endpoint given is no URL.
    """
    region = session.get_config_variable("region")
    if not region:
        raise NoRegionError
    validate_region_name(region)
    endpoint = endpoint or _find_endpoint(session, service, region)
    if not is_valid_endpoint_url(endpoint):
        raise ValueError(f"Invalid endpoint: {endpoint}")
    return endpoint, region


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
    """Look up the domain of the partition that a region is in, by default that of most."""
    partitions = session.get_component("data_loader").load_data("partitions")["partitions"]
    found = [each for each in partitions if re.match(each["regionRegex"], region)]
    return str((found or partitions)[0]["outputs"]["dnsSuffix"])
