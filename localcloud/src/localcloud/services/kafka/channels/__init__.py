"""Amazon MSK Data Delivery: channels that deliver one topic to a bucket or an Iceberg table.

Amazon MSK Developer Guide, "Amazon MSK Data Delivery". A channel is strict as AWS's is: Express
brokers only, one topic, one fixed schema. What its pages leave open is the assumptions `channel-*`.
"""

from __future__ import annotations

from localcloud.services.kafka.channels import operations

__all__ = ["operations"]
