"""Every error localcloud raises on its own account.

LocalcloudError
├── MissingToolError            a program or jar this machine lacks
├── AddressInUseError           somebody else listens where a server should
├── BrokerStartError            a Kafka process that did not come up
├── TokenRefusedError           an MSK IAM token that does not hold
├── MissingHopError             a way through the network that is not there
├── UndecidablePolicyError      a policy that uses what localcloud cannot judge
├── JobFailedError              a job run that ends as FAILED, and why
└── MotoChangedError            a moto that is not the one that localcloud was written for
"""

from __future__ import annotations


class LocalcloudError(Exception):
    """Base of all of them; the message says what to do about it."""


class MissingToolError(LocalcloudError):
    """A program or jar this machine lacks."""


class AddressInUseError(LocalcloudError):
    """Somebody else listens where a server should."""


class BrokerStartError(LocalcloudError):
    """A Kafka process that did not come up."""


class TokenRefusedError(LocalcloudError):
    """An MSK IAM token that does not hold."""


class MissingHopError(LocalcloudError):
    """A way through the network that is not there: names the hop that misses and what mends it."""


class UndecidablePolicyError(LocalcloudError):
    """A policy that uses what localcloud cannot judge."""


class JobFailedError(LocalcloudError):
    """A job run that ends as FAILED; the message becomes its state's details."""


class MotoChangedError(LocalcloudError):
    """A moto that is not the one that localcloud was written for."""
