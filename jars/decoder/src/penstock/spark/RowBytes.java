package penstock.spark;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Iterator;
import java.util.NoSuchElementException;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/** Rows as bytes, each after its size: one array costs less to send and to keep than many. */
final class RowBytes implements Serializable {
  private static final long serialVersionUID = 1;
  private static final int FULL = 256 * 1024;
  private static final int SIZE = 8; // bytes before each row; rows begin at multiples of 8

  private byte[] bytes = {};
  private int end;
  private int rows;

  /** Adds a row, and returns how many bytes it takes. */
  int add(UnsafeRow row) {
    int more = SIZE + row.getSizeInBytes();
    if (end + more > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(end + more, 2 * bytes.length));
    }
    long start = (long) Platform.BYTE_ARRAY_OFFSET + end;
    Platform.putLong(bytes, start, row.getSizeInBytes());
    row.writeToMemory(bytes, start + SIZE);
    end += more;
    rows++;
    return more;
  }

  int rows() {
    return rows;
  }

  int size() {
    return end;
  }

  /** Returns whether other rows should go elsewhere. */
  boolean isFull() {
    return end >= FULL;
  }

  /** Frees what no row needs, and returns itself. */
  RowBytes trim() {
    bytes = Arrays.copyOf(bytes, end);
    return this;
  }

  /** Returns the rows; each is valid until the next one. */
  Iterator<InternalRow> read(int width) {
    return new Iterator<>() {
      private final UnsafeRow row = new UnsafeRow(width);
      private int at;

      @Override
      public boolean hasNext() {
        return at < end;
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
