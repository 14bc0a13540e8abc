package penstock.spark.source;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.spark.sql.kafka010.KafkaRecordToRowConverter;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.unsafe.types.UTF8String;

/** The columns of Spark's Kafka source, as views of a list of records. */
final class RecordColumns {
  private static final long MICROS = 1_000; // in a millisecond
  private static final long LAST_MILLI = Long.MAX_VALUE / MICROS;

  private RecordColumns() {}

  /** Returns the columns in the order of Spark's source; `records` may change between batches. */
  static ColumnVector[] of(
      List<ConsumerRecord<byte[], byte[]>> records, String topic, boolean withHeaders) {
    byte[] name = topic.getBytes(StandardCharsets.UTF_8);
    ColumnVector[] columns = {
      new Bytes<>(records, DataTypes.BinaryType, ConsumerRecord::key),
      new Bytes<>(records, DataTypes.BinaryType, ConsumerRecord::value),
      new Bytes<>(records, DataTypes.StringType, record -> name),
      new Numbers(records, DataTypes.IntegerType, ConsumerRecord::partition),
      new Numbers(records, DataTypes.LongType, ConsumerRecord::offset),
      new Numbers(records, DataTypes.TimestampType, RecordColumns::micros),
      new Numbers(records, DataTypes.IntegerType, record -> record.timestampType().id),
      new Headers(records)
    };
    return withHeaders ? columns : Arrays.copyOf(columns, columns.length - 1);
  }

  /** Returns the time of a record; one that is after Spark's last millisecond is that one. */
  private static long micros(ConsumerRecord<byte[], byte[]> record) {
    return Math.min(record.timestamp(), LAST_MILLI) * MICROS;
  }

  private static final class Numbers extends View {
    private final List<ConsumerRecord<byte[], byte[]>> records;
    private final ToLongFunction<ConsumerRecord<byte[], byte[]>> number;

    Numbers(
        List<ConsumerRecord<byte[], byte[]>> records,
        DataType type,
        ToLongFunction<ConsumerRecord<byte[], byte[]>> number) {
      super(type);
      this.records = records;
      this.number = number;
    }

    @Override
    public boolean isNullAt(int row) {
      return false;
    }

    @Override
    public int getInt(int row) {
      return (int) getLong(row);
    }

    @Override
    public long getLong(int row) {
      return number.applyAsLong(records.get(row));
    }
  }

  /** Texts or bytes, which are not copied. */
  private static final class Bytes<T> extends View {
    private final List<T> rows;
    private final Function<T, byte[]> bytes;

    Bytes(List<T> rows, DataType type, Function<T, byte[]> bytes) {
      super(type);
      this.rows = rows;
      this.bytes = bytes;
    }

    @Override
    public boolean isNullAt(int row) {
      return bytes.apply(rows.get(row)) == null;
    }

    @Override
    public byte[] getBinary(int row) {
      return bytes.apply(rows.get(row));
    }

    @Override
    public UTF8String getUTF8String(int row) {
      return UTF8String.fromBytes(getBinary(row));
    }
  }

  /** An array of headers for each record, and none for a record without them, as Spark has it. */
  private static final class Headers extends View {
    private final List<ConsumerRecord<byte[], byte[]>> records;

    Headers(List<ConsumerRecord<byte[], byte[]>> records) {
      super(KafkaRecordToRowConverter.headersType());
      this.records = records;
    }

    @Override
    public boolean isNullAt(int row) {
      return !records.get(row).headers().iterator().hasNext();
    }

    @Override
    public ColumnarArray getArray(int row) {
      List<Header> headers = List.of(records.get(row).headers().toArray());
      return new ColumnarArray(new HeaderColumn(headers), 0, headers.size());
    }
  }

  private static final class HeaderColumn extends View {
    private final ColumnVector[] fields;

    HeaderColumn(List<Header> headers) {
      super(((ArrayType) KafkaRecordToRowConverter.headersType()).elementType());
      StructType header = (StructType) type;
      fields =
          new ColumnVector[] {
            new Bytes<>(
                headers,
                header.apply(0).dataType(),
                each -> each.key().getBytes(StandardCharsets.UTF_8)),
            new Bytes<>(headers, header.apply(1).dataType(), Header::value)
          };
    }

    @Override
    public boolean isNullAt(int row) {
      return false;
    }

    @Override
    public ColumnVector getChild(int field) {
      return fields[field];
    }
  }
}
