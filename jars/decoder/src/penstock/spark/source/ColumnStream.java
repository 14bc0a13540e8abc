package penstock.spark.source;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReportsSourceMetrics;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaOffsetRange;
import org.apache.spark.sql.kafka010.KafkaSourceOffset;
import scala.jdk.javaapi.CollectionConverters;

/** Spark's stream of Kafka's offsets, whose batches are read as columns. */
final class ColumnStream
    implements MicroBatchStream, SupportsTriggerAvailableNow, ReportsSourceMetrics {
  private final KafkaMicroBatchStream kafka;
  private Optional<Offset> reported = Optional.empty();

  ColumnStream(KafkaMicroBatchStream kafka) {
    this.kafka = kafka;
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new ColumnReaders();
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    InputPartition[] planned = kafka.planInputPartitions(start, end);
    addRemoved(offsets(start), offsets(end), planned);
    return planned;
  }

  /** Spark begins a partition that is new to the stream with the first record that Kafka has. */
  private static void addRemoved(
      Map<TopicPartition, Object> starts,
      Map<TopicPartition, Object> ends,
      InputPartition[] planned) {
    Map<TopicPartition, Object> first = new HashMap<>(ends);
    for (InputPartition each : planned) {
      KafkaOffsetRange range = ((KafkaBatchInputPartition) each).offsetRange();
      first.merge(range.topicPartition(), range.fromOffset(), ColumnStream::least);
    }
    first.keySet().removeAll(starts.keySet());
    first.forEach(
        (place, offset) -> {
          if ((long) offset > 0) {
            RemovedOffsets.open().add(RemovedOffsets.describe(place, 0, (long) offset));
          }
        });
  }

  private static Object least(Object one, Object other) {
    return Math.min((long) one, (long) other);
  }

  private static Map<TopicPartition, Object> offsets(Offset offset) {
    return CollectionConverters.asJava(((KafkaSourceOffset) offset).partitionToOffsets());
  }

  @Override
  public Offset initialOffset() {
    return kafka.initialOffset();
  }

  @Override
  public Offset latestOffset() {
    return kafka.latestOffset();
  }

  @Override
  public Offset latestOffset(Offset start, ReadLimit limit) {
    return kafka.latestOffset(start, limit);
  }

  @Override
  public Offset reportLatestOffset() {
    return kafka.reportLatestOffset();
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    return kafka.getDefaultReadLimit();
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    kafka.prepareForTriggerAvailableNow();
  }

  @Override
  public Offset deserializeOffset(String json) {
    return kafka.deserializeOffset(json);
  }

  @Override
  public void commit(Offset end) {
    kafka.commit(end);
  }

  @Override
  public void stop() {
    kafka.stop();
  }

  /**
   * Spark compares what was read with what there was when it planned the batch. Records that came
   * meanwhile wait too, so it asks again after each batch.
   */
  @Override
  public Map<String, String> metrics(Optional<Offset> read) {
    if (!read.equals(reported)) {
      read.map(end -> kafka.deserializeOffset(end.json())) // that of a log is not Kafka's yet
          .ifPresent(end -> kafka.latestOffset(end, ReadLimit.allAvailable()));
      reported = read;
    }
    return kafka.metrics(read);
  }

  @Override
  public String toString() {
    return kafka.toString();
  }
}
