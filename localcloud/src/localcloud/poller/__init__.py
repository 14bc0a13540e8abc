"""The process of an event source mapping: it reads Kafka and invokes a function.

It is a separate process: it resolves and connects as its VPC allows, and its work does not slow
localcloud down. Three parts, joined by `worker`:

    Poller     is a member of the consumer group, collects batches, commits offsets
    Batch      makes events from records, filtered and within 6 MB
    Delivery   invokes, retries, bisects, discards; returns the offsets that are done
"""
