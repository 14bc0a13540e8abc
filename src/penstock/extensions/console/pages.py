"""The pages: for each the command whose output it shows, and the arguments that a form gives it.

Only these commands can be run, and a value from a form is an argument, never another flag.
"""

from __future__ import annotations

from typing import Final

from penstock.extensions.console.model import BOTH, Action, Command, Field, Page, Part, Side

_TOPIC = Field("topic", "Topic", is_required=True)
_SCHEMA = Field("schema", "Schema", is_required=True)
_WHERE = Field("where", "Where", flag="--where")
_READ = (
    _TOPIC,
    Field("from", "From", "-20", "--from"),
    Field("partition", "Partition", flag="--partition"),
    _WHERE,
    Field("count", "At most", "100", "--count"),
)
_JSON = Field("text", "JSON", is_long=True, is_required=True)
_TEXT = Field("text", "Status as JSON, or log", is_long=True, is_required=True)
_LETTERS = (
    Field("reason", "Reasons", flag="--reason"),
    Field("schema", "Schema ids", flag="--schema"),
    Field("since", "Since", flag="--since"),
    Field("until", "Until", flag="--until"),
    Field("id", "Ids", flag="--id"),
)

VERSION: Final = Command(
    ("schema", "show"),
    (Field("version", "Version", flag="--version"), _SCHEMA),
    asks_registry=True,
)
COMPARE: Final = Command(
    ("schema", "diff"),
    (
        _SCHEMA,
        Field("before", "version on the left", is_required=True),
        Field("after", "version on the right", is_required=True),
    ),
    asks_registry=True,
)
LINEAGE: Final = Command(("lineage",), (Field("what", "Schema, topic, table or TABLE.COLUMN"),))
PICTURE: Final = Command((*LINEAGE.words, "--output=svg"), LINEAGE.fields)
FOLLOW: Final = Command(
    ("read", "--follow", "--end-with-stdin", "--from=end"), (_TOPIC, _WHERE), asks_brokers=True
)
_WORKLOAD: Final = (
    Field("events", "Events a second", "1000", "--events"),
    Field("bytes", "Bytes of a record", "500", "--bytes"),
    Field("consumers", "Consumers", "2", "--consumers"),
)

PAGES: Final = (
    Page(
        "topics",
        "Topics",
        "Partitions, with the first offset that is kept and the one that the next record gets.",
        Command(("topics",), asks_brokers=True),
        template="topics.html",
    ),
    Page(
        "records",
        "Records",
        "Each record with the schema version that it was written in.",
        Command(("read",), _READ, asks_brokers=True),
        template="records.html",
    ),
    Page(
        "trace",
        "Trace",
        "One event on its way: its record, schema version, row and file in the lake, or why it was "
        "given up.",
        # It reads the record on the profile's host itself; what else it asks, this machine reaches.
        Command(
            ("trace",),
            (
                Field("id", "Record, sort key, dead letter or rejected event"),
                Field("topic", "Or a topic", flag="--topic"),
                Field("key", "And a key", flag="--key"),
            ),
            needs_field=True,
        ),
        template="trace.html",
    ),
    Page(
        "schemas",
        "Schemas",
        "The schemas of the registry.",
        Command(("schema", "list"), asks_registry=True),
        template="schemas.html",
    ),
    Page(
        "versions",
        "Versions",
        "All versions of a schema, those that the registry refused too.",
        Command(("schema", "versions"), (_SCHEMA,), asks_registry=True),
        template="versions.html",
        is_listed=False,
    ),
    Page(
        "version",
        "Version",
        "The definition of one version.",
        VERSION,
        is_listed=False,
    ),
    Page(
        "lag",
        "Lag",
        "How many records wait for each consumer group, and the time to catch up.",
        Command(
            ("lag",),
            (Field("groups", "Groups"), Field("seconds", "Seconds", "1", "--seconds")),
            asks_brokers=True,
        ),
        sides=(Side.CONSUMER,),
    ),
    Page(
        "rows",
        "Rows",
        "Rows of a table of DynamoDB, by a key or of all keys.",
        Command(
            ("rows",),
            (
                Field("table", "Table", is_required=True),
                Field("key", "Key", flag="--key"),
                Field("count", "At most", "100", "--count"),
            ),
        ),
        sides=(Side.CONSUMER,),
        template="rows.html",
    ),
    Page(
        "dead-letters",
        "Dead letters",
        "Records that a consumer gave up, with the reason.",
        Command(("errors", "list"), _LETTERS),
        sides=(Side.CONSUMER,),
        template="letters.html",
    ),
    Page(
        "dead-letter",
        "Dead letter",
        "One dead letter, with the bytes of its record.",
        Command(("errors", "show"), (Field("id", "Id", is_required=True),)),
        sides=(Side.CONSUMER,),
        template="letter.html",
        is_listed=False,
    ),
    Page(
        "rejected",
        "Rejected events",
        "Events that a producer refused and keeps in a bucket.",
        Command(("rejected", "list"), (Field("prefix", "Begin with"),)),
        sides=(Side.PRODUCER,),
        template="rejected.html",
    ),
    Page(
        "jobs",
        "Jobs",
        "The newest runs of Spark jobs, with their states.",
        Command(("jobs", "list"), (Field("count", "At most", "20", "--count"),)),
        sides=(Side.CONSUMER,),
        template="jobs.html",
    ),
    Page(
        "job",
        "Job run",
        "A run of a Spark job, with the batches that it has written.",
        Command(("jobs", "show"), (Field("id", "Id", is_required=True),)),
        sides=(Side.CONSUMER,),
        is_listed=False,
    ),
    Page(
        "doctor",
        "Doctor",
        "Each hop between the brokers and the tables, and the first cause of what does not work.",
        Command(("doctor",)),
    ),
    Page(
        "drift",
        "Drift",
        "Columns of tables that differ from those of the schemas whose records they hold.",
        Command(
            ("schema", "drift"),
            (
                Field("schemas", "Schemas", is_required=True),
                Field("lake", "Lake table, DATABASE.TABLE", flag="--lake-table"),
                Field("parquet", "Parquet table", flag="--parquet-table"),
                Field("rows", "DynamoDB table", flag="--dynamodb-table"),
                Field("registry", "One registry of several", flag="--registry"),
            ),
        ),
        sides=(Side.CONSUMER,),
    ),
    Page(
        "quality",
        "Quality",
        "The rules of a lake table, by queries of Athena, which cost by the bytes they scan.",
        Command(
            ("quality",),
            (
                Field("since", "Days, a day, or all", "7", "--since"),
                Field("table", "DATABASE.TABLE", is_required=True),
            ),
        ),
        sides=(Side.CONSUMER,),
    ),
    Page(
        "lineage",
        "Lineage",
        "Where the columns of tables come from; queries of Athena count their rows.",
        LINEAGE,
        sides=(Side.CONSUMER,),
        template="lineage.html",
    ),
    Page(
        "connectors",
        "Connectors",
        "The connectors of MSK Connect that capture changes of databases, with their states.",
        Command(("cdc", "list")),
        sides=(Side.PRODUCER,),
        template="connectors.html",
    ),
    Page(
        "connector-settings",
        "Connector settings",
        "Checks the settings of a connector of Debezium for the job of change data capture.",
        Command(("cdc", "check"), (_JSON,), stdin="text", takes_file=True),
        is_listed=False,
    ),
    Page(
        "connector-error",
        "Connector error",
        "Finds what stops a connector, by its status or its log.",
        Command(("cdc", "explain"), (_TEXT,), stdin="text", takes_file=True),
        is_listed=False,
    ),
    Page(
        "candidate",
        "Check a schema",
        "Says whether the registry would accept a definition as the next version.",
        Command(
            ("schema", "check"),
            (_SCHEMA, _JSON),
            stdin="text",
            takes_file=True,
            asks_registry=True,
        ),
        is_listed=False,
    ),
    Page(
        "staging",
        "Check a staging job",
        "The tables of a staging job's configuration.",
        Command(("staging", "check"), (_JSON,), stdin="text", takes_file=True),
        sides=(Side.CONSUMER,),
        is_listed=False,
    ),
    Page(
        "access",
        "Access lists",
        "The operations that each user may perform on topics and groups.",
        Command(("access", "list"), asks_brokers=True),
        sides=(Side.PRODUCER,),
    ),
    Page(
        "cost",
        "Cost",
        "A month of MSK and of Kinesis, for a workload.",
        Command(
            ("cost",),
            (
                *_WORKLOAD,
                Field("retention", "Hours kept", "24", "--retention"),
            ),
        ),
    ),
    Page(
        "size",
        "Sizing",
        "The parts that a workload needs, and the one that reaches its limit first.",
        Command(
            ("size",),
            (
                *_WORKLOAD,
                Field("versions", "Versions of schemas", "10", "--versions"),
            ),
        ),
    ),
    Page(
        "reasons",
        "Reasons",
        "Why a record, an event or a hop failed, and what to do.",
        Command(("explain",), (Field("reason", "Reason"),)),
        template="reasons.html",
    ),
    Page(
        "status",
        "Status",
        "What is open: kept events, dead letters, and versions left.",
        Command(("status",)),
        is_listed=False,
    ),
    Page(
        "settings",
        "Settings",
        "The profile's settings, and where each comes from.",
        Command(("config", "show")),
    ),
)

# What the overview shows of each profile.
PARTS: Final = (
    Part("status", "Kept and refused", "part_status.html", BOTH),
    Part("doctor", "Path from the brokers to the tables", "part_doctor.html", BOTH),
    Part("lag", "Lag", "part_lag.html", (Side.CONSUMER,)),
)

ACTIONS: Final = (
    Action(
        "produce",
        "Send events",
        "Writes events to the producer's topic, one JSON object in a line. A field that the schema "
        "lacks brings a new version, if the producer's policy allows it.",
        Command(
            ("produce", "-"),
            (Field("events", "Events", '{"temperature": 30}', is_long=True, is_required=True),),
            stdin="events",
            asks_brokers=True,
        ),
        (Side.PRODUCER,),
        Command(
            ("produce", "--dry-run", "-"),
            (Field("events", "Events", is_long=True, is_required=True),),
            stdin="events",
            asks_brokers=True,
        ),
    ),
    Action(
        "replay-rejected",
        "Send rejected events again",
        "Sends kept events to their producer. A written event is deleted from the bucket.",
        Command(
            ("rejected", "replay"), (Field("prefix", "Key, or how keys begin", is_required=True),)
        ),
        (Side.PRODUCER,),
        Command(("rejected", "list"), (Field("prefix", "Begin with"),)),
    ),
    Action(
        "replay-letters",
        "Retry dead letters",
        "Submits the replay job, which retries the dead letters that are chosen.",
        Command(("errors", "replay"), (*_LETTERS, Field("job", "Job of the table", flag="--job"))),
        (Side.CONSUMER,),
        Command(("errors", "list"), _LETTERS),
    ),
)
