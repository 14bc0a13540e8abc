package penstock.spark.columnar;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteBufferDeserializer;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.connector.read.streaming.Offset;
import org.apache.spark.sql.connector.read.streaming.ReadLimit;
import org.apache.spark.sql.connector.read.streaming.ReadMaxRows;
import org.apache.spark.sql.connector.read.streaming.SupportsTriggerAvailableNow;

/** Topics as a stream of ranges: earliest or latest first, and so many records at most a batch. */
final class RecordStream implements MicroBatchStream, SupportsTriggerAvailableNow {
  private final Source source;
  private final List<String> topics;
  private final boolean isEarliest;
  private final long limit;
  private final KafkaConsumer<ByteBuffer, ByteBuffer> consumer;
  private Offsets last; // with the trigger that ends

  RecordStream(Source source, List<String> topics, boolean isEarliest, long limit) {
    this.source = source;
    this.topics = topics;
    this.isEarliest = isEarliest;
    this.limit = limit;
    this.consumer =
        new KafkaConsumer<>(
            source.settings(), new ByteBufferDeserializer(), new ByteBufferDeserializer());
  }

  @Override
  public ReadLimit getDefaultReadLimit() {
    return limit > 0 ? ReadLimit.maxRows(limit) : ReadLimit.allAvailable();
  }

  @Override
  public void prepareForTriggerAvailableNow() {
    last = new Offsets(consumer.endOffsets(partitions()));
  }

  @Override
  public Offset initialOffset() {
    List<TopicPartition> all = partitions();
    return new Offsets(isEarliest ? consumer.beginningOffsets(all) : consumer.endOffsets(all));
  }

  @Override
  public Offset latestOffset() {
    throw new UnsupportedOperationException("Spark asks with a limit");
  }

  @Override
  public Offset latestOffset(Offset start, ReadLimit allowed) {
    Offsets end = last != null ? last : new Offsets(consumer.endOffsets(partitions()));
    return allowed instanceof ReadMaxRows rows
        ? share(((Offsets) start).next, end.next, rows.maxRows())
        : end;
  }

  /** Takes as large a share of each partition's new records, and a record of each at least. */
  private static Offsets share(
      Map<TopicPartition, Long> start, Map<TopicPartition, Long> end, long rows) {
    long all = 0;
    for (Map.Entry<TopicPartition, Long> each : end.entrySet()) {
      all += each.getValue() - start.getOrDefault(each.getKey(), 0L);
    }
    if (all <= rows) {
      return new Offsets(end);
    }
    double part = (double) rows / all;
    Map<TopicPartition, Long> taken = new HashMap<>();
    end.forEach(
        (partition, until) -> {
          long from = start.getOrDefault(partition, 0L);
          long some = (long) Math.ceil((until - from) * part);
          taken.put(partition, Math.min(until, from + some));
        });
    return new Offsets(taken);
  }

  @Override
  public InputPartition[] planInputPartitions(Offset start, Offset end) {
    Map<TopicPartition, Long> from = ((Offsets) start).next;
    List<InputPartition> ranges = new ArrayList<>();
    ((Offsets) end)
        .next.forEach(
            (each, until) -> {
              long first = from.getOrDefault(each, 0L);
              if (first < until) {
                ranges.add(new Range(each.topic(), each.partition(), first, until));
              }
            });
    return ranges.toArray(InputPartition[]::new);
  }

  @Override
  public PartitionReaderFactory createReaderFactory() {
    return new KafkaColumns.Readers(source);
  }

  @Override
  public Offset deserializeOffset(String json) {
    return Offsets.parse(json);
  }

  @Override
  public void commit(Offset end) {}

  @Override
  public void stop() {
    consumer.close();
  }

  private List<TopicPartition> partitions() {
    List<TopicPartition> all = new ArrayList<>();
    for (String topic : topics) {
      consumer
          .partitionsFor(topic)
          .forEach(each -> all.add(new TopicPartition(topic, each.partition())));
    }
    return all;
  }
}
