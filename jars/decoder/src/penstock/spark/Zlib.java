package penstock.spark;

import java.util.Arrays;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/** Inflates the payload of a frame: exactly one zlib stream, up to the size that others inflate. */
final class Zlib {
  /** As in penstock/framing/glue.py. */
  private static final int MAX_BYTES = 8 << 20;

  private static final ThreadLocal<Inflater> INFLATERS = ThreadLocal.withInitial(Inflater::new);

  private Zlib() {}

  static byte[] inflate(byte[] compressed) {
    Inflater inflater = INFLATERS.get();
    inflater.reset();
    inflater.setInput(compressed);
    byte[] inflated = new byte[Math.min(MAX_BYTES + 1, Math.max(256, 4 * compressed.length))];
    int size = 0;
    try {
      while (!inflater.finished()) {
        if (size == inflated.length) {
          inflated = Arrays.copyOf(inflated, (int) Math.min(MAX_BYTES + 1L, 2L * size));
        }
        int more = inflater.inflate(inflated, size, inflated.length - size);
        size += more;
        // Without progress, the stream is cut off, needs a dictionary or is too long.
        if (size > MAX_BYTES || (more == 0 && !inflater.finished())) {
          throw PayloadException.undecodable();
        }
      }
    } catch (DataFormatException error) {
      throw PayloadException.undecodable();
    }
    if (inflater.getRemaining() > 0) {
      throw PayloadException.undecodable();
    }
    return Arrays.copyOf(inflated, size);
  }
}
