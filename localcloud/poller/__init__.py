"""The process behind an event source mapping: it reads Kafka and invokes a function.

A process of its own, so that it resolves and connects as its VPC lets it, and its work takes
nothing from localcloud's. Three parts, joined by `worker`:

    Poller     holds the place in the group, collects batches, keeps offsets
    Batch      makes events of records, filtered and within 6 MB
    Delivery   invokes, retries, halves, discards; says which offsets are done
"""
