package penstock.spark.source;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.read.InputPartition;
import org.apache.spark.sql.connector.read.PartitionReader;
import org.apache.spark.sql.connector.read.PartitionReaderFactory;
import org.apache.spark.sql.kafka010.KafkaBatchInputPartition;
import org.apache.spark.sql.vectorized.ColumnarBatch;
import org.apache.spark.util.CollectionAccumulator;

/** Makes the readers of the ranges of offsets that Spark's source planned. */
final class ColumnReaders implements PartitionReaderFactory {
  private static final long serialVersionUID = 1;

  private final CollectionAccumulator<String> removed = RemovedOffsets.open();

  @Override
  public PartitionReader<ColumnarBatch> createColumnarReader(InputPartition range) {
    return new RangeReader((KafkaBatchInputPartition) range, removed);
  }

  @Override
  public boolean supportColumnarReads(InputPartition range) {
    return true;
  }

  @Override
  public PartitionReader<InternalRow> createReader(InputPartition range) {
    throw new UnsupportedOperationException("records come as columns");
  }
}
