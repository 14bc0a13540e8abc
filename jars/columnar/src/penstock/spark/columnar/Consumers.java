package penstock.spark.columnar;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Deserializer;

/** Consumers that wait for the next range of their partition. */
final class Consumers {
  private static final Map<String, Deque<KafkaConsumer<ByteBuffer, ByteBuffer>>> IDLE =
      new HashMap<>();

  private Consumers() {}

  static KafkaConsumer<ByteBuffer, ByteBuffer> take(
      Map<String, Object> settings, TopicPartition partition, long start) {
    KafkaConsumer<ByteBuffer, ByteBuffer> consumer = null;
    synchronized (IDLE) {
      Deque<KafkaConsumer<ByteBuffer, ByteBuffer>> idle = IDLE.get(name(settings, partition));
      if (idle != null) {
        consumer = idle.pollFirst();
      }
    }
    if (consumer == null) {
      consumer = new KafkaConsumer<>(settings, new Slices(), new Slices());
      consumer.assign(List.of(partition));
    }
    consumer.seek(partition, start);
    return consumer;
  }

  static void giveBack(
      Map<String, Object> settings,
      TopicPartition partition,
      KafkaConsumer<ByteBuffer, ByteBuffer> consumer) {
    synchronized (IDLE) {
      IDLE.computeIfAbsent(name(settings, partition), each -> new ArrayDeque<>()).add(consumer);
    }
  }

  private static String name(Map<String, Object> settings, TopicPartition partition) {
    return partition + " " + settings;
  }

  /** Leaves keys and values in the fetch that they came with. */
  private static final class Slices implements Deserializer<ByteBuffer> {
    @Override
    public ByteBuffer deserialize(String topic, byte[] data) {
      return data == null ? null : ByteBuffer.wrap(data);
    }

    @Override
    public ByteBuffer deserialize(String topic, Headers headers, ByteBuffer data) {
      return data;
    }
  }
}
