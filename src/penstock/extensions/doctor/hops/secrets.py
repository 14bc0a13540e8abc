"""Secrets with passwords, and the keys that encrypt them; their values are not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.extensions.doctor.accounts import World
from penstock.extensions.doctor.findings import Break, Seen, Side


def look_at_secrets(world: World) -> Iterator[Seen | Break]:
    """Check the consumer's copies of the passwords, and its client certificates."""
    logins = world.outputs(Side.CONSUMER)["platform"]["brokers"]["logins"]
    for name, login in sorted(logins.items()):
        yield from _check_secret(world, Side.CONSUMER, name, login["secret_arn"])
    yield Seen(f"{len(logins)} secrets have a value")


def look_at_producers_secrets(world: World) -> Iterator[Seen | Break]:
    """Check the secrets that MSK reads the passwords from."""
    secrets = list_secrets(world)
    for name, arn in secrets.items():
        yield from _check_secret(world, Side.PRODUCER, name, arn)
    yield Seen(f"{len(secrets)} secrets have a value")


def look_at_keys(world: World) -> Iterator[Seen | Break]:
    """Check the keys of the consumer's copies of the passwords."""
    logins = world.outputs(Side.CONSUMER)["platform"]["brokers"]["logins"]
    arns = [login["secret_arn"] for login in logins.values()]
    yield from _check_keys(world, Side.CONSUMER, arns)


def look_at_producers_keys(world: World) -> Iterator[Seen | Break]:
    """Check the key of the secrets that MSK reads."""
    yield from _check_keys(world, Side.PRODUCER, list_secrets(world).values())


def list_secrets(world: World) -> dict[str, str]:
    """Return the secret of each program that logs in by a password, by the program's name."""
    programs = sorted(world.contract["programs"].items())
    return {name: each["secret_arn"] for name, each in programs if each.get("secret_arn")}


def _check_secret(world: World, side: Side, name: str, arn: str) -> Iterator[Break]:
    """Yield a break if a secret is missing, waits for its deletion or has no value."""
    found = world.ask(side, "secretsmanager", "describe_secret", SecretId=arn)
    versions = (found or {}).get("VersionIdsToStages", {}).values()
    if found is None:
        yield Break("secret-unusable", name, f"no secret {arn}", "one for each program")
    elif found.get("DeletedDate"):
        yield Break(
            "secret-unusable",
            name,
            f"the secret of {name} waits for its deletion",
            "a secret that can be read",
            f"aws secretsmanager restore-secret --secret-id {arn}",
        )
    elif not any("AWSCURRENT" in stages for stages in versions):
        yield Break(
            "secret-unusable",
            name,
            f"the secret of {name} has no current value",
            "a user and its password, or a client certificate and its key",
        )


def _check_keys(world: World, side: Side, arns: Iterable[str]) -> Iterator[Seen | Break]:
    """Yield a break for each key that cannot decrypt the secret of a login."""
    found = [world.ask(side, "secretsmanager", "describe_secret", SecretId=arn) for arn in arns]
    keys = sorted({each["KmsKeyId"] for each in found if each and each.get("KmsKeyId")})
    for key in keys:
        answer = world.ask(side, "kms", "describe_key", KeyId=key)
        state = answer["KeyMetadata"]["KeyState"] if answer else "missing"
        if state != "Enabled":
            name = key.rpartition("/")[2]
            step = "cancel-key-deletion" if state == "PendingDeletion" else "enable-key"
            yield Break(
                "key-not-enabled",
                name,
                f"the key of the secrets is {state}",
                "Enabled, else no program reads its password",
                f"aws kms {step} --key-id {name}",
            )
    yield Seen(f"{len(keys)} keys")
