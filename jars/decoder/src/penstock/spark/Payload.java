package penstock.spark;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The bytes of a payload, from the first to the last; penstock/schemas/_readers.py describes them.
 *
 * <p>Each length and count is compared with the bytes that are left before anything is allocated
 * for it, and the numbers of values and of columns are bounded. Texts are not copied, so the payload
 * must not change.
 */
final class Payload {
  /** As in penstock/schemas/_json.py. */
  private static final int MAX_VALUES = 500_000;

  /** As in penstock/spark/failures.py. */
  private static final int MAX_COLUMNS = 8_000_000;

  private static final long NOT_ASCII = 0x8080808080808080L;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private final byte[] bytes;
  private int at;
  private int valuesLeft = MAX_VALUES;
  private int columnsLeft = MAX_COLUMNS;
  private boolean hasInvalidText;
  private boolean isLossy;

  Payload(byte[] bytes) {
    if (bytes == null) {
      throw PayloadException.undecodable();
    }
    this.bytes = bytes;
  }

  /** Refuses a payload that has bytes left, or values that no row can hold. */
  void checkEnd() {
    if (at < bytes.length) {
      throw new PayloadException(Failure.TRAILING_BYTES);
    }
    if (hasInvalidText) {
      throw new PayloadException(Failure.INVALID_TEXT);
    }
    if (isLossy) {
      throw new PayloadException(Failure.LOSSY_WIDENING);
    }
  }

  /** Counts values, of which a few bytes can become millions. */
  void spend(long values) {
    if (values > valuesLeft) {
      throw PayloadException.undecodable();
    }
    valuesLeft -= (int) values;
  }

  /** Makes a row; other versions may have many more columns than the payload has values. */
  Object[] makeRow(int columns) {
    if (columns > columnsLeft) {
      throw new PayloadException(Failure.OVERSIZE);
    }
    columnsLeft -= columns;
    return new Object[columns];
  }

  void markLossy() {
    isLossy = true;
  }

  boolean readBoolean() {
    int value = readByte();
    if (value < 0 || value > 1) {
      throw PayloadException.undecodable();
    }
    return value == 1;
  }

  int readInt() {
    long value = readVarint(5);
    if (value >>> 32 != 0) {
      throw PayloadException.undecodable();
    }
    return (int) (value >>> 1) ^ -(int) (value & 1);
  }

  long readLong() {
    long value = readVarint(10);
    return (value >>> 1) ^ -(value & 1);
  }

  float readFloat() {
    return Float.intBitsToFloat((int) INTS.get(bytes, take(4)));
  }

  double readDouble() {
    return Double.longBitsToDouble((long) LONGS.get(bytes, take(8)));
  }

  byte[] readBytes() {
    return readFixed(readSize());
  }

  byte[] readFixed(int size) {
    int start = take(size);
    return Arrays.copyOfRange(bytes, start, at);
  }

  UTF8String readText() {
    int size = readSize();
    int start = take(size);
    UTF8String text = UTF8String.fromBytes(bytes, start, size);
    if (!isAscii(start) && !text.isValid()) {
      hasInvalidText = true;
    }
    return text;
  }

  /** Reads the number of one of {@code count} branches or symbols. */
  int readIndex(int count) {
    int index = readInt();
    if (index < 0 || index >= count) {
      throw PayloadException.undecodable();
    }
    return index;
  }

  /** Reads the items of an array or the entries of a map, of so many values each. */
  void readBlocks(int values, Runnable readItem) {
    while (true) {
      long count = readLong();
      if (count == 0) {
        return;
      }
      boolean isSized = count < 0;
      long size = isSized ? readLong() : 0;
      long end = at + size;
      count = Math.abs(count);
      // An item takes at least one byte: schemas whose items take none are refused.
      if (count < 0 || count > bytes.length - at) {
        throw PayloadException.undecodable();
      }
      spend(count * values);
      for (long item = 0; item < count; item++) {
        readItem.run();
      }
      if (isSized && end != at) {
        throw PayloadException.undecodable();
      }
    }
  }

  private int readSize() {
    long size = readLong();
    if (size < 0 || size > bytes.length - at) {
      throw PayloadException.undecodable();
    }
    return (int) size;
  }

  private byte readByte() {
    if (at == bytes.length) {
      throw PayloadException.undecodable();
    }
    return bytes[at++];
  }

  private long readVarint(int longest) {
    byte first = readByte();
    if (first >= 0) {
      return first;
    }
    long value = first & 0x7f;
    for (int index = 1; index < longest; index++) {
      byte next = readByte();
      value |= (long) (next & 0x7f) << 7 * index;
      if (next >= 0) {
        // The tenth byte has one bit of the 64.
        if (index == 9 && next > 1) {
          throw PayloadException.undecodable();
        }
        return value;
      }
    }
    throw PayloadException.undecodable();
  }

  private int take(int size) {
    if (size > bytes.length - at) {
      throw PayloadException.undecodable();
    }
    int start = at;
    at += size;
    return start;
  }

  /** Returns whether the bytes from {@code start} to here are ASCII, eight at a time. */
  private boolean isAscii(int start) {
    long seen = 0;
    int next = start;
    for (; next <= at - 8; next += 8) {
      seen |= (long) LONGS.get(bytes, next);
    }
    for (; next < at; next++) {
      seen |= bytes[next];
    }
    return (seen & NOT_ASCII) == 0;
  }
}
