package penstock.spark.columnar;

import java.io.Serializable;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.spark.sql.types.StructType;

/** What a reader needs: the columns to fill, the decoder's definition and Kafka's settings. */
final class Source implements Serializable {
  private static final long serialVersionUID = 1;
  static final String EVENT = "event_";

  final StructType schema;
  final String definition;
  final int width;
  final int rows;
  private final HashMap<String, String> kafka;

  Source(StructType schema, String definition, int width, int rows, Map<String, String> kafka) {
    this.schema = schema;
    this.definition = definition;
    this.width = width;
    this.rows = rows;
    this.kafka = new HashMap<>(kafka);
  }

  Map<String, Object> settings() {
    Map<String, Object> settings = new HashMap<>(kafka);
    settings.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
    return settings;
  }
}
