package penstock.spark.columnar;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import org.apache.spark.unsafe.types.UTF8String;

/** The bytes of a payload, from the first to the last; the rules are those of the row decoder. */
final class Payload {
  private static final int MAX_VALUES = 500_000;
  private static final long NOT_ASCII = 0x8080808080808080L;
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

  private byte[] bytes;
  private int at;
  private int end;
  private int valuesLeft;
  private boolean hasInvalidText;
  private boolean isLossy;

  void reset(byte[] bytes, int start, int end) {
    this.bytes = bytes;
    this.at = start;
    this.end = end;
    this.valuesLeft = MAX_VALUES;
    this.hasInvalidText = false;
    this.isLossy = false;
  }

  /** Refuses a payload that has bytes left, or values that no row can hold. */
  void checkEnd() {
    if (at < end) {
      throw new PayloadException(Status.TRAILING_BYTES);
    }
    if (hasInvalidText) {
      throw new PayloadException(Status.INVALID_TEXT);
    }
    if (isLossy) {
      throw new PayloadException(Status.LOSSY_WIDENING);
    }
  }

  void spend(long values) {
    if (values > valuesLeft) {
      throw undecodable();
    }
    valuesLeft -= (int) values;
  }

  void markLossy() {
    isLossy = true;
  }

  long readBoolean() {
    int value = readByte();
    if (value < 0 || value > 1) {
      throw undecodable();
    }
    return value;
  }

  int readInt() {
    long value = readVarint(5);
    if (value >>> 32 != 0) {
      throw undecodable();
    }
    return (int) (value >>> 1) ^ -(int) (value & 1);
  }

  long readLong() {
    long value = readVarint(10);
    return (value >>> 1) ^ -(value & 1);
  }

  int readFloatBits() {
    return (int) INTS.get(bytes, take(4));
  }

  long readDoubleBits() {
    return (long) LONGS.get(bytes, take(8));
  }

  /** Returns the place of a text. */
  long readText() {
    long size = readLong();
    if (size < 0 || size > end - at) {
      throw undecodable();
    }
    int start = at;
    at += (int) size;
    if (!isAscii(start) && !UTF8String.fromBytes(bytes, start, (int) size).isValid()) {
      hasInvalidText = true;
    }
    return RecordVector.place(start, (int) size);
  }

  int readIndex(int count) {
    int index = readInt();
    if (index < 0 || index >= count) {
      throw undecodable();
    }
    return index;
  }

  static PayloadException undecodable() {
    return new PayloadException(Status.UNDECODABLE);
  }

  private byte readByte() {
    if (at == end) {
      throw undecodable();
    }
    return bytes[at++];
  }

  private long readVarint(int longest) {
    byte first = readByte();
    return first >= 0 ? first : readLongVarint(first, longest);
  }

  private long readLongVarint(byte first, int longest) {
    long value = first & 0x7f;
    for (int index = 1; index < longest; index++) {
      byte next = readByte();
      value |= (long) (next & 0x7f) << 7 * index;
      if (next >= 0) {
        if (index == 9 && next > 1) {
          throw undecodable();
        }
        return value;
      }
    }
    throw undecodable();
  }

  private int take(int size) {
    if (size > end - at) {
      throw undecodable();
    }
    int start = at;
    at += size;
    return start;
  }

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
