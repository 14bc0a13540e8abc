package penstock.spark.columnar;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.sql.connector.read.streaming.Offset;

/** The next offset of each partition, in the JSON of Spark's own source. */
final class Offsets extends Offset {
  private static final ObjectMapper JSON = new ObjectMapper();

  final TreeMap<TopicPartition, Long> next =
      new TreeMap<>(
          Comparator.comparing(TopicPartition::topic).thenComparing(TopicPartition::partition));

  Offsets(Map<TopicPartition, Long> next) {
    this.next.putAll(next);
  }

  static Offsets parse(String json) {
    Offsets offsets = new Offsets(Map.of());
    for (Map.Entry<String, JsonNode> topic : Versions.parse(json).properties()) {
      for (Map.Entry<String, JsonNode> each : topic.getValue().properties()) {
        int partition = Integer.parseInt(each.getKey());
        offsets.next.put(
            new TopicPartition(topic.getKey(), partition), each.getValue().asLong());
      }
    }
    return offsets;
  }

  @Override
  public String json() {
    ObjectNode root = JSON.createObjectNode();
    next.forEach(
        (partition, offset) ->
            root.withObject("/" + partition.topic())
                .put(Integer.toString(partition.partition()), offset));
    return root.toString();
  }
}
