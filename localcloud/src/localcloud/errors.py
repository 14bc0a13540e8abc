"""The errors of localcloud.

LocalcloudError
├── MissingToolError            a program or jar is missing on this machine
├── DownloadError               Maven cannot fetch a jar
├── AddressInUseError           another process listens on a server's address
├── BrokerStartError            a Kafka process did not start
├── RegistryStartError          Apicurio did not start
├── DatabaseStartError          PostgreSQL did not start, or refuses what localcloud asks
├── WorkerStartError            a worker of Kafka Connect did not start
├── TokenRefusedError           an MSK IAM token is invalid
├── MissingHopError             a hop through the network is missing
├── UndecidablePolicyError      a policy uses something localcloud cannot evaluate
├── JobFailedError              a job run ends as FAILED; the message is the reason
└── MotoChangedError            moto differs from the one localcloud was written for
"""

from __future__ import annotations


class LocalcloudError(Exception):
    """Base class; the message says what to do."""


class MissingToolError(LocalcloudError):
    """A program or jar is missing on this machine."""


class DownloadError(LocalcloudError):
    """Maven cannot fetch a jar, or it is another one than expected."""


class AddressInUseError(LocalcloudError):
    """Another process listens on a server's address."""


class BrokerStartError(LocalcloudError):
    """A Kafka process did not start."""


class RegistryStartError(LocalcloudError):
    """Apicurio did not start."""


class DatabaseStartError(LocalcloudError):
    """PostgreSQL did not start, or refuses what localcloud asks."""


class WorkerStartError(LocalcloudError):
    """A worker of Kafka Connect did not start."""


class TokenRefusedError(LocalcloudError):
    """An MSK IAM token is invalid."""


class MissingHopError(LocalcloudError):
    """A hop through the network is missing; the message names it and the remedy."""


class UndecidablePolicyError(LocalcloudError):
    """A policy uses something that localcloud cannot evaluate."""


class JobFailedError(LocalcloudError):
    """A job run ends as FAILED; the message becomes its state details."""


class MotoChangedError(LocalcloudError):
    """The installed moto differs from the one that localcloud was written for."""
