package penstock.spark.columnar;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.Iterator;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/** Reads a range of offsets of one partition as batches of columns. */
final class RangeReader implements PartitionReader<ColumnarBatch> {
  private static final int HEADER = 18;
  private static final Duration POLL = Duration.ofSeconds(120);
  private static final long MICROS_PER_MILLI = 1_000;

  private final Source source;
  private final Range range;
  private final TopicPartition partition;
  private final KafkaConsumer<ByteBuffer, ByteBuffer> consumer;
  private final int rows;
  private final byte[][] sources;
  private final RecordVector key;
  private final RecordVector value;
  private final RecordVector offset;
  private final RecordVector timestamp;
  private final RecordVector status;
  private final RecordVector schemaId;
  private final RecordVector schemaVersion;
  private final long[][] bits;
  private final boolean[][] set;
  private final Versions versions;
  private final Payload payload = new Payload();
  private final ColumnarBatch batch;
  private Iterator<ConsumerRecord<ByteBuffer, ByteBuffer>> records = Collections.emptyIterator();
  private boolean isDone;

  RangeReader(Source source, Range range) {
    this.source = source;
    this.range = range;
    this.rows = source.rows;
    this.partition = new TopicPartition(range.topic(), range.partition());
    sources = new byte[rows][];
    StructType schema = source.schema;
    RecordVector[] vectors = new RecordVector[schema.length()];
    int[] columns = new int[source.width];
    Arrays.fill(columns, vectors.length);
    for (int at = 0; at < vectors.length; at++) {
      StructField field = schema.fields()[at];
      boolean isOfEvent = field.name().startsWith(Source.EVENT);
      byte[][] own = isOfEvent ? sources : new byte[rows][];
      vectors[at] = new RecordVector(field.dataType(), rows, own);
      if (isOfEvent) {
        columns[Integer.parseInt(field.name().substring(Source.EVENT.length()))] = at;
      }
    }
    bits = new long[vectors.length + 1][];
    set = new boolean[vectors.length + 1][];
    for (int at = 0; at < vectors.length; at++) {
      bits[at] = vectors[at].bits;
      set[at] = vectors[at].set;
    }
    bits[vectors.length] = new long[rows];
    set[vectors.length] = new boolean[rows];
    versions = new Versions(Versions.parse(source.definition), columns, vectors.length);
    key = find(vectors, "key");
    value = find(vectors, "value");
    offset = find(vectors, "offset");
    timestamp = find(vectors, "timestamp");
    status = find(vectors, "status");
    schemaId = find(vectors, "schema_id");
    schemaVersion = find(vectors, "schema_version");
    RecordVector topic = find(vectors, "topic");
    RecordVector number = find(vectors, "partition");
    byte[] name = range.topic().getBytes(StandardCharsets.UTF_8);
    for (int row = 0; row < rows; row++) {
      if (topic != null) {
        topic.putBytes(row, name);
      }
      if (number != null) {
        number.put(row, range.partition());
      }
    }
    batch = new ColumnarBatch(Arrays.copyOf(vectors, vectors.length, ColumnVector[].class));
    consumer = Consumers.take(source.settings(), partition, range.start());
  }

  private RecordVector find(RecordVector[] vectors, String name) {
    for (int at = 0; at < vectors.length; at++) {
      if (source.schema.fields()[at].name().equals(name)) {
        return vectors[at];
      }
    }
    return null;
  }

  @Override
  public boolean next() {
    clear();
    int row = 0;
    while (row < rows && !isDone) {
      if (!records.hasNext()) {
        if (consumer.position(partition) >= range.end()) {
          isDone = true;
          break;
        }
        records = consumer.poll(POLL).records(partition).iterator();
        continue;
      }
      ConsumerRecord<ByteBuffer, ByteBuffer> next = records.next();
      if (next.offset() >= range.end()) {
        isDone = true;
        break;
      }
      read(next, row++);
    }
    batch.setNumRows(row);
    return row > 0;
  }

  private void clear() {
    StructField[] fields = source.schema.fields();
    for (int at = 0; at < fields.length; at++) {
      String name = fields[at].name();
      if (!name.equals("topic") && !name.equals("partition")) {
        Arrays.fill(set[at], false);
      }
    }
  }

  private void read(ConsumerRecord<ByteBuffer, ByteBuffer> record, int row) {
    if (offset != null) {
      offset.put(row, record.offset());
    }
    if (timestamp != null) {
      timestamp.put(row, record.timestamp() * MICROS_PER_MILLI);
    }
    if (key != null) {
      put(key, row, record.key());
    }
    if (value != null) {
      put(value, row, record.value());
    }
    if (source.width > 0) {
      Status found = decode(record.value(), row);
      if (status != null) {
        status.putBytes(row, found.text);
      }
    }
  }

  private static void put(RecordVector vector, int row, ByteBuffer bytes) {
    if (bytes != null) {
      vector.sources[row] = bytes.array();
      int start = bytes.arrayOffset() + bytes.position();
      vector.put(row, RecordVector.place(start, bytes.remaining()));
    }
  }

  private Status decode(ByteBuffer frame, int row) {
    if (frame == null) {
      return Status.TOMBSTONE;
    }
    int size = frame.remaining();
    int at = frame.position();
    if (size == 0 || frame.get(at) != 3) {
      return Status.UNKNOWN_FRAMING;
    }
    if (size < HEADER) {
      return Status.TRUNCATED;
    }
    byte compression = frame.get(at + 1);
    if (compression != 0 && compression != 5) {
      return Status.UNKNOWN_FRAMING;
    }
    Version version = versions.find(frame.getLong(at + 2), frame.getLong(at + 10));
    if (version == null) {
      return Status.UNKNOWN;
    }
    if (schemaId != null) {
      schemaId.putBytes(row, version.id);
    }
    if (schemaVersion != null) {
      schemaVersion.put(row, version.number);
    }
    try {
      int start = frame.arrayOffset() + at;
      if (compression == 5) {
        byte[] inflated = Zlib.inflate(frame.array(), start + HEADER, size - HEADER);
        sources[row] = inflated;
        payload.reset(inflated, 0, inflated.length);
      } else {
        sources[row] = frame.array();
        payload.reset(frame.array(), start + HEADER, start + size);
      }
      version.decode(payload, bits, set, row);
      return Status.DECODED;
    } catch (PayloadException error) {
      for (int column = 0; column < source.schema.length(); column++) {
        if (source.schema.fields()[column].name().startsWith(Source.EVENT)) {
          set[column][row] = false;
        }
      }
      return error.status;
    }
  }

  @Override
  public ColumnarBatch get() {
    return batch;
  }

  @Override
  public void close() {
    Consumers.giveBack(source.settings(), partition, consumer);
  }
}
