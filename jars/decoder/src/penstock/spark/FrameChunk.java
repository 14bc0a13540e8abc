package penstock.spark;

import java.io.Serializable;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/** Frames with the same schema key, or without one, as the bytes of rows with their sizes. */
final class FrameChunk implements Serializable {
  private static final long serialVersionUID = 1;
  static final int SIZE = 8; // bytes before each row; rows begin at multiples of 8

  final byte[] schema;
  final byte[] bytes;
  final int rows;

  FrameChunk(byte[] schema, byte[] bytes, int rows) {
    this.schema = schema;
    this.bytes = bytes;
    this.rows = rows;
  }

  /** Returns its rows; each is valid until the next one. */
  Iterator<InternalRow> read(int width) {
    return new Iterator<>() {
      private final UnsafeRow row = new UnsafeRow(width);
      private int at;

      @Override
      public boolean hasNext() {
        return at < bytes.length;
      }

      @Override
      public InternalRow next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        long start = (long) Platform.BYTE_ARRAY_OFFSET + at;
        int size = (int) Platform.getLong(bytes, start);
        row.pointTo(bytes, start + SIZE, size);
        at += SIZE + size;
        return row;
      }
    };
  }
}
