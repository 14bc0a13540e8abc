package penstock.spark.source;

import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.vectorized.ColumnVector;
import org.apache.spark.sql.vectorized.ColumnarArray;
import org.apache.spark.sql.vectorized.ColumnarMap;
import org.apache.spark.unsafe.types.UTF8String;

/** A column that holds nothing itself. Each kind answers for its own type, and for no other one. */
abstract class View extends ColumnVector {
  View(DataType type) {
    super(type);
  }

  private UnsupportedOperationException refusal() {
    return new UnsupportedOperationException("a column of " + type.sql());
  }

  @Override
  public boolean hasNull() {
    return true; // so that each row is asked
  }

  @Override
  public int numNulls() {
    throw refusal();
  }

  @Override
  public boolean getBoolean(int row) {
    throw refusal();
  }

  @Override
  public byte getByte(int row) {
    throw refusal();
  }

  @Override
  public short getShort(int row) {
    throw refusal();
  }

  @Override
  public int getInt(int row) {
    throw refusal();
  }

  @Override
  public long getLong(int row) {
    throw refusal();
  }

  @Override
  public float getFloat(int row) {
    throw refusal();
  }

  @Override
  public double getDouble(int row) {
    throw refusal();
  }

  @Override
  public ColumnarArray getArray(int row) {
    throw refusal();
  }

  @Override
  public ColumnarMap getMap(int row) {
    throw refusal();
  }

  @Override
  public Decimal getDecimal(int row, int precision, int scale) {
    throw refusal();
  }

  @Override
  public UTF8String getUTF8String(int row) {
    throw refusal();
  }

  @Override
  public byte[] getBinary(int row) {
    throw refusal();
  }

  @Override
  public ColumnVector getChild(int field) {
    throw refusal();
  }

  @Override
  public void close() {}
}
