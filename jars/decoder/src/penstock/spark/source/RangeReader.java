package penstock.spark.source;

import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.header.Header;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.sql.kafka010.KafkaOffsetRange;
import org.apache.spark.sql.kafka010.consumer.InternalKafkaConsumer;
import org.apache.spark.sql.kafka010.consumer.KafkaDataConsumer;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.CollectionAccumulator;
import org.apache.spark.util.UninterruptibleThread;

/**
 * Reads a range of offsets of a partition; a batch of columns has the records of a poll.
 *
 * <p>The consumer is Spark's, which it keeps between batches. Spark's own reader asks it for each
 * record, and asks the broker for the partition's offsets after each poll. Here it does so only
 * from the first poll on that has no records: they are late, were removed, or belong to an aborted
 * transaction, and Spark knows which. A poll skips no records that were removed, since the broker
 * answers that their offset is out of range.
 */
final class RangeReader implements PartitionReader<ColumnarBatch> {
  private static final long POLL_MILLIS = 10_000; // then Spark waits, as its options say
  private static final int MOST_RECORDS = 1_000; // of a batch that Spark is asked for
  private static final int MOST_BYTES = 1 << 20; // then such a batch ends, as a poll does

  private final KafkaBatchInputPartition range;
  private final CollectionAccumulator<String> removed;
  private final KafkaDataConsumer consumer;
  private final List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
  private final ColumnarBatch batch;
  private final long end;
  private long next;
  private boolean asksSpark;

  RangeReader(KafkaBatchInputPartition range, CollectionAccumulator<String> removed) {
    this.range = range;
    this.removed = removed;
    KafkaOffsetRange offsets = range.offsetRange();
    consumer = KafkaDataConsumer.acquire(offsets.topicPartition(), range.executorKafkaParams());
    // A batch read without bounds has offsets below 0, and means those of now.
    next =
        offsets.fromOffset() < 0
            ? consumer.getAvailableOffsetRange().earliest()
            : offsets.fromOffset();
    end =
        offsets.untilOffset() < 0
            ? consumer.getAvailableOffsetRange().latest()
            : offsets.untilOffset();
    batch =
        new ColumnarBatch(
            RecordColumns.of(records, offsets.topic(), range.includeHeaders()));
  }

  @Override
  public boolean next() {
    records.clear();
    if (next < end && !asksSpark) {
      List<ConsumerRecord<byte[], byte[]>> polled = poll();
      take(polled);
      asksSpark = polled.isEmpty();
    }
    long bytes = 0;
    while (asksSpark && next < end && records.size() < MOST_RECORDS && bytes < MOST_BYTES) {
      bytes += askSpark();
    }
    batch.setNumRows(records.size());
    return !records.isEmpty();
  }

  private List<ConsumerRecord<byte[], byte[]>> poll() {
    // An interrupted poll would leave a consumer in the cache that cannot be used.
    return Thread.currentThread() instanceof UninterruptibleThread thread
        ? thread.runUninterruptibly(this::pollNow)
        : pollNow();
  }

  private List<ConsumerRecord<byte[], byte[]>> pollNow() {
    InternalKafkaConsumer kafka = consumer.getOrRetrieveConsumer();
    // Where offsets without a record follow, Kafka has passed them, and would wait for a new one.
    // Anywhere else it is there already, and keeps what it has fetched.
    kafka.seek(next);
    try {
      return kafka.poll(Math.min(POLL_MILLIS, range.pollTimeoutMs()));
    } catch (OffsetOutOfRangeException removed) {
      return List.of();
    }
  }

  private void take(List<ConsumerRecord<byte[], byte[]>> polled) {
    for (ConsumerRecord<byte[], byte[]> record : polled) {
      if (record.offset() >= end) {
        next = end;
        return;
      }
      records.add(record);
      next = record.offset() + 1;
    }
  }

  /** Takes one record, and returns its size; or ends the range if there is none. */
  private long askSpark() {
    long before = consumer.getNumOffsetOutOfRange();
    ConsumerRecord<byte[], byte[]> record =
        consumer.get(next, end, range.pollTimeoutMs(), range.failOnDataLoss());
    long passed = consumer.getNumOffsetOutOfRange() - before;
    if (passed > 0) {
      removed.add(
          RemovedOffsets.describe(range.offsetRange().topicPartition(), next, next + passed));
    }
    if (record == null) {
      next = end;
      return 0;
    }
    records.add(record);
    next = record.offset() + 1;
    return size(record);
  }

  private static long size(ConsumerRecord<byte[], byte[]> record) {
    long size = size(record.key()) + size(record.value());
    for (Header each : record.headers()) {
      size += each.key().length() + size(each.value());
    }
    return size;
  }

  private static long size(byte[] bytes) {
    return bytes == null ? 0 : bytes.length;
  }

  @Override
  public ColumnarBatch get() {
    return batch;
  }

  @Override
  public CustomTaskMetric[] currentMetricsValues() {
    return new CustomTaskMetric[] {
      new Count("offsetOutOfRange", consumer.getNumOffsetOutOfRange()),
      new Count("dataLoss", consumer.getNumDataLoss())
    };
  }

  @Override
  public void close() {
    consumer.release();
  }

  private record Count(String name, long value) implements CustomTaskMetric {}
}
