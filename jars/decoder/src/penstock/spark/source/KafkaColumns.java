package penstock.spark.source;

import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableProvider;
import org.apache.spark.sql.connector.expressions.Transform;
import org.apache.spark.sql.connector.metric.CustomMetric;
import org.apache.spark.sql.connector.metric.CustomTaskMetric;
import org.apache.spark.sql.connector.read.Batch;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.connector.read.Scan;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.connector.read.streaming.MicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaMicroBatchStream;
import org.apache.spark.sql.kafka010.KafkaSourceProvider;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * Spark's Kafka source, whose records come as columns.
 *
 * <p>Options, columns, offsets and limits are those of Spark's own source, which plans each batch;
 * only the readers of its partitions are others. Spark makes a row of each record and copies its
 * bytes twice; here they stay in Kafka's record until an expression asks for them.
 */
public final class KafkaColumns implements TableProvider {
  private final KafkaSourceProvider kafka = new KafkaSourceProvider();

  @Override
  public StructType inferSchema(CaseInsensitiveStringMap options) {
    return kafka.inferSchema(options);
  }

  @Override
  public Table getTable(StructType schema, Transform[] partitioning, Map<String, String> options) {
    return new Records(kafka.getTable(new CaseInsensitiveStringMap(options)), schema);
  }

  @SuppressWarnings("deprecation") // a table must have a schema, or columns that say the same
  private record Records(SupportsRead kafka, StructType schema) implements SupportsRead {
    @Override
    public String name() {
      return kafka.name();
    }

    @Override
    public Set<TableCapability> capabilities() {
      return Set.of(TableCapability.BATCH_READ, TableCapability.MICRO_BATCH_READ);
    }

    @Override
    public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
      return () -> new ColumnScan(kafka.newScanBuilder(options).build());
    }
  }

  private record ColumnScan(Scan kafka) implements Scan {
    @Override
    public StructType readSchema() {
      return kafka.readSchema();
    }

    @Override
    public String description() {
      return kafka.description();
    }

    @Override
    public Batch toBatch() {
      return new ColumnBatch(kafka.toBatch());
    }

    @Override
    public MicroBatchStream toMicroBatchStream(String checkpoint) {
      return new ColumnStream((KafkaMicroBatchStream) kafka.toMicroBatchStream(checkpoint));
    }

    @Override
    public CustomMetric[] supportedCustomMetrics() {
      return kafka.supportedCustomMetrics();
    }

    @Override
    public CustomTaskMetric[] reportDriverMetrics() {
      return kafka.reportDriverMetrics();
    }

    @Override
    public ColumnarSupportMode columnarSupportMode() {
      return ColumnarSupportMode.SUPPORTED;
    }
  }

  private record ColumnBatch(Batch kafka) implements Batch {
    @Override
    public InputPartition[] planInputPartitions() {
      return kafka.planInputPartitions();
    }

    @Override
    public PartitionReaderFactory createReaderFactory() {
      return new ColumnReaders();
    }
  }
}
