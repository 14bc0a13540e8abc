package penstock.spark.columnar;

import java.util.Arrays;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * A column of a batch: numbers as 64 bits each; texts and bytes as a place in the bytes of their row.
 *
 * <p>Texts are not copied: they stay in Kafka's fetch, which the batch holds until it is read.
 */
final class RecordVector extends ColumnVector {
  final boolean[] set;
  final long[] bits;
  final byte[][] sources;

  RecordVector(DataType type, int rows, byte[][] sources) {
    super(type);
    this.set = new boolean[rows];
    this.bits = new long[rows];
    this.sources = sources;
  }

  /** Returns a place as the bits of a text. */
  static long place(int start, int size) {
    return (long) start << 32 | size;
  }

  void putBytes(int row, byte[] value) {
    if (value != null) {
      sources[row] = value;
      bits[row] = value.length;
      set[row] = true;
    }
  }

  void put(int row, long value) {
    bits[row] = value;
    set[row] = true;
  }

  @Override
  public boolean isNullAt(int row) {
    return !set[row];
  }

  @Override
  public boolean getBoolean(int row) {
    return bits[row] != 0;
  }

  @Override
  public int getInt(int row) {
    return (int) bits[row];
  }

  @Override
  public long getLong(int row) {
    return bits[row];
  }

  @Override
  public float getFloat(int row) {
    return Float.intBitsToFloat((int) bits[row]);
  }

  @Override
  public double getDouble(int row) {
    return Double.longBitsToDouble(bits[row]);
  }

  @Override
  public UTF8String getUTF8String(int row) {
    long place = bits[row];
    return UTF8String.fromBytes(sources[row], (int) (place >>> 32), (int) place);
  }

  @Override
  public byte[] getBinary(int row) {
    int start = (int) (bits[row] >>> 32);
    return Arrays.copyOfRange(sources[row], start, start + (int) bits[row]);
  }

  @Override
  public boolean hasNull() {
    return true;
  }

  @Override
  public int numNulls() {
    int nulls = 0;
    for (boolean each : set) {
      nulls += each ? 0 : 1;
    }
    return nulls;
  }

  @Override
  public void close() {}

  @Override
  public byte getByte(int row) {
    return (byte) bits[row];
  }

  @Override
  public short getShort(int row) {
    return (short) bits[row];
  }

  @Override
  public ColumnarArray getArray(int row) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ColumnarMap getMap(int row) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Decimal getDecimal(int row, int precision, int scale) {
    throw new UnsupportedOperationException();
  }

  @Override
  public ColumnVector getChild(int at) {
    throw new UnsupportedOperationException();
  }
}
