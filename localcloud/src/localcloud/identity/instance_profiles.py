"""Instance profiles in IAM (moto's): the role that instances get."""

from __future__ import annotations

from moto.iam.models import iam_backends


def find_profile_role(account: str, name: str) -> str | None:
    """Return the ARN of the role in an instance profile, given by name or ARN; None if missing."""
    profiles = iam_backends[account]["aws"].instance_profiles
    for profile in list(profiles.values()):
        if name in {profile.name, profile.arn} and profile.roles:
            return str(profile.roles[0].arn)
    return None
