package penstock.spark.columnar;

import org.apache.spark.sql.connector.read.InputPartition;

/** Offsets of a partition, from the first to the one after the last. */
record Range(String topic, int partition, long start, long end) implements InputPartition {}
