"""The properties of a Java client of Kafka, such as Spark's."""

from __future__ import annotations

from penstock.kafka._mechanism import CLIENT_ID, choose_mechanism
from penstock.kafka.settings import KafkaSettings


def java_options(settings: KafkaSettings) -> dict[str, str]:
    """Return a Java client's properties: brokers, client id and login, maybe with a password.

    Raises:
        BrokerLoginError: the secret cannot be read, or is not as expected.
    """
    return {
        "bootstrap.servers": ",".join(settings.bootstrap_servers),
        "client.id": CLIENT_ID,
        **choose_mechanism(settings).java_options(),
    }
