package penstock.spark.columnar;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.SupportsPushDownRequiredColumns;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.apache.spark.sql.vectorized.ColumnarBatch;

/**
 * Ranges of Kafka's records as columns, decoded.
 *
 * <pre>
 *   definition   the name of a decoder's definition, or nothing: then records are not decoded
 *   ranges       {"topic": {"0": [START, END]}}, of a batch read
 *   subscribe    topics of a stream, and its startingOffsets (earliest or latest) and
 *                maxOffsetsPerTrigger
 *   rows         of a batch
 *   kafka.*      settings of the consumers
 * </pre>
 */
public final class KafkaColumns implements TableProvider {
  private static final Map<String, String> DEFINITIONS = new ConcurrentHashMap<>();
  private static final String NONE = "{}";

  /** Keeps a definition, and returns its name. */
  public static String add(String definition) {
    String name = UUID.randomUUID().toString();
    DEFINITIONS.put(name, definition);
    return name;
  }

  private static String definition(CaseInsensitiveStringMap options) {
    String name = options.get("definition");
    return name == null ? NONE : DEFINITIONS.get(name);
  }

  private static StructType event(String definition) {
    JsonNode event = Versions.parse(definition).get("event");
    return event == null ? new StructType() : (StructType) DataType.fromJson(event.asText());
  }

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    StructType schema =
        new StructType()
            .add("key", DataTypes.BinaryType)
            .add("value", DataTypes.BinaryType)
            .add("topic", DataTypes.StringType, false)
            .add("partition", DataTypes.IntegerType, false)
            .add("offset", DataTypes.LongType, false)
            .add("timestamp", DataTypes.TimestampType, false);
    StructField[] fields = event(definition(options)).fields();
    if (fields.length > 0) {
      schema =
          schema
              .add("status", DataTypes.StringType, false)
              .add("schema_id", DataTypes.StringType)
              .add("schema_version", DataTypes.IntegerType);
    }
    for (int at = 0; at < fields.length; at++) {
      schema = schema.add(Source.EVENT + at, fields[at].dataType());
    }
    return schema;
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
    return new Records(schema);
  }

  private record Records(StructType schema) implements Table, SupportsRead {
    @Override
    public String name() {
      return "kafka columns";
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return new Builder(schema, options);
    }
  }

  private static final class Builder implements ScanBuilder, SupportsPushDownRequiredColumns {
    private final CaseInsensitiveStringMap options;
    private StructType schema;

    Builder(StructType schema, CaseInsensitiveStringMap options) {
      this.schema = schema;
      this.options = options;
    }

    @Override
    public void pruneColumns(StructType required) {
      schema = required;
    }

    @Override
    public Scan build() {
      String definition = definition(options);
      Map<String, String> kafka = new HashMap<>();
      options.forEach(
          (name, text) -> {
            if (name.startsWith("kafka.")) {
              kafka.put(name.substring("kafka.".length()), text);
            }
          });
      int width = event(definition).length();
      int rows = options.getInt("rows", 4096);
      Source source = new Source(schema, definition, width, rows, kafka);
      String ranges = options.getOrDefault("ranges", NONE);
      return new Ranges(source, ranges(ranges), options);
    }

    private static InputPartition[] ranges(String text) {
      List<InputPartition> ranges = new ArrayList<>();
      Versions.parse(text)
          .properties()
          .forEach(
              topic -> {
                for (Map.Entry<String, JsonNode> each : topic.getValue().properties()) {
                  long start = each.getValue().get(0).asLong();
                  long end = each.getValue().get(1).asLong();
                  int number = Integer.parseInt(each.getKey());
                  ranges.add(new Range(topic.getKey(), number, start, end));
                }
              });
      return ranges.toArray(InputPartition[]::new);
    }
  }

  private record Ranges(
      Source source, InputPartition[] partitions, CaseInsensitiveStringMap options)
      implements Scan, Batch {
    @Override
    public StructType readSchema() {
      return source.schema;
    }

    @Override
    public Batch toBatch() {
      return this;
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
      List<String> topics = List.of(options.get("subscribe").split(","));
      boolean isEarliest = options.getOrDefault("startingOffsets", "latest").equals("earliest");
      long limit = options.getLong("maxOffsetsPerTrigger", 0);
      return new RecordStream(source, topics, isEarliest, limit);
    }

    @Override
    public InputPartition[] planInputPartitions() {
      return partitions;
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return new Readers(source);
    }

    @Override
    public ColumnarSupportMode columnarSupportMode() {
      return ColumnarSupportMode.SUPPORTED;
    }
  }

  record Readers(Source source) implements PartitionReaderFactory {
    @Override
    public PartitionReader<InternalRow> createReader(InputPartition range) {
      throw new UnsupportedOperationException();
    }

    @Override
    public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition range) {
      return new RangeReader(source, (Range) range);
    }

    @Override
    public boolean supportColumnarReads(InputPartition range) {
      return true;
    }
  }
}
