package penstock.spark;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Queue;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;

/**
 * Makes chunks of the frames of a task, in their order for each schema key.
 *
 * <p>A task holds no more than a few megabytes of chunks that are not full, however many keys its
 * frames have.
 */
final class FrameChunks implements Iterator<FrameChunk> {
  private static final int MOST = 16 * 1024 * 1024; // bytes of chunks that are not full
  private static final byte[] NO_KEY = {};

  private final Iterator<InternalRow> rows;
  private final int schema;
  private final Map<ByteBuffer, RowBytes> open = new HashMap<>();
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
    RowBytes chunk = open.computeIfAbsent(key, it -> new RowBytes());
    bytes += chunk.add(row);
    if (chunk.isFull()) {
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

  private void close(ByteBuffer key, RowBytes chunk) {
    bytes -= chunk.size();
    made.add(new FrameChunk(key.array(), chunk.trim()));
  }
}
