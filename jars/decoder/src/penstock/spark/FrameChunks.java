package penstock.spark;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Queue;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.unsafe.Platform;

/**
 * Makes chunks of the frames of a task, in their order for each schema key.
 *
 * <p>A task holds no more than a few megabytes of chunks that are not full, however many keys its
 * frames have.
 */
final class FrameChunks implements Iterator<FrameChunk> {
  private static final int FULL = 256 * 1024; // bytes of a chunk
  private static final int MOST = 16 * 1024 * 1024; // bytes of chunks that are not full
  private static final byte[] NO_KEY = {};

  private final Iterator<InternalRow> rows;
  private final int schema;
  private final Map<ByteBuffer, Open> open = new HashMap<>();
  private final Queue<FrameChunk> made = new ArrayDeque<>();
  private long bytes;

  FrameChunks(Iterator<InternalRow> rows, int schema) {
    this.rows = rows;
    this.schema = schema;
  }

  @Override
  public boolean hasNext() {
    while (made.isEmpty() && rows.hasNext()) {
      add((UnsafeRow) rows.next());
    }
    if (made.isEmpty()) {
      closeAll();
    }
    return !made.isEmpty();
  }

  @Override
  public FrameChunk next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return made.remove();
  }

  private void add(UnsafeRow row) {
    ByteBuffer key = ByteBuffer.wrap(row.isNullAt(schema) ? NO_KEY : row.getBinary(schema));
    Open chunk = open.computeIfAbsent(key, it -> new Open());
    bytes += chunk.add(row);
    if (chunk.size >= FULL) {
      open.remove(key);
      close(key, chunk);
    } else if (bytes > MOST) {
      closeAll();
    }
  }

  private void closeAll() {
    open.forEach(this::close);
    open.clear();
  }

  private void close(ByteBuffer key, Open chunk) {
    bytes -= chunk.size;
    made.add(new FrameChunk(key.array(), Arrays.copyOf(chunk.bytes, chunk.size), chunk.rows));
  }

  private static final class Open {
    byte[] bytes = {};
    int size;
    int rows;

    int add(UnsafeRow row) {
      int more = FrameChunk.SIZE + row.getSizeInBytes();
      if (size + more > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(size + more, 2 * bytes.length));
      }
      long end = (long) Platform.BYTE_ARRAY_OFFSET + size;
      Platform.putLong(bytes, end, row.getSizeInBytes());
      row.writeToMemory(bytes, end + FrameChunk.SIZE);
      size += more;
      rows++;
      return more;
    }
  }
}
