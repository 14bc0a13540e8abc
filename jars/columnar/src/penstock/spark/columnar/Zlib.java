package penstock.spark.columnar;

import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** Inflates the payload of a frame, as the row decoder does. */
final class Zlib {
  private static final int MAX_BYTES = 8 << 20;
  private static final ThreadLocal<Inflater> INFLATERS = ThreadLocal.withInitial(Inflater::new);

  private Zlib() {}

  static byte[] inflate(byte[] bytes, int start, int length) {
    Inflater inflater = INFLATERS.get();
    inflater.reset();
    inflater.setInput(bytes, start, length);
    byte[] inflated = new byte[Math.min(MAX_BYTES + 1, Math.max(256, 4 * length))];
    int size = 0;
    try {
      while (!inflater.finished()) {
        if (size == inflated.length) {
          inflated = Arrays.copyOf(inflated, (int) Math.min(MAX_BYTES + 1L, 2L * size));
        }
        int more = inflater.inflate(inflated, size, inflated.length - size);
        size += more;
        if (size > MAX_BYTES || (more == 0 && !inflater.finished())) {
          throw Payload.undecodable();
        }
      }
    } catch (DataFormatException error) {
      throw Payload.undecodable();
    }
    if (inflater.getRemaining() > 0) {
      throw Payload.undecodable();
    }
    return Arrays.copyOf(inflated, size);
  }
}
