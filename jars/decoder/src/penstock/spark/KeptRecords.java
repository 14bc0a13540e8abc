package penstock.spark;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.util.AccumulatorV2;

/**
 * Records that tasks keep for the driver, as the bytes of rows.
 *
 * <p>A task keeps so many bytes, and the driver those of all its tasks. Records beyond that are
 * counted and dropped, so whoever wants all of them reads them again. Of many tasks each keeps
 * less, since Spark ends a job whose results are larger than the driver takes, before it merges any.
 */
final class KeptRecords extends AccumulatorV2<UnsafeRow, List<RowBytes>> {
  private static final long serialVersionUID = 1;
  private static final int PARTS = 4; // of what the driver takes; all tasks keep one

  private final long mostOfTask;
  private final long most;
  private List<RowBytes> chunks = new ArrayList<>();
  private RowBytes open = new RowBytes();
  private long bytes;
  private long count;
  private boolean isFull;
  private transient long share; // of this task

  KeptRecords(long mostOfTask, long most) {
    this.mostOfTask = mostOfTask;
    this.most = most;
  }

  @Override
  public synchronized void add(UnsafeRow row) {
    count++;
    if (share == 0) {
      share = findShare();
    }
    if (!fits(row.getSizeInBytes(), share)) {
      return;
    }
    open.add(row);
    if (open.isFull()) {
      close();
    }
  }

  @Override
  public synchronized void merge(AccumulatorV2<UnsafeRow, List<RowBytes>> other) {
    KeptRecords added = (KeptRecords) other;
    count += added.count;
    if (added.isFull) {
      drop();
    } else if (fits(added.bytes, most)) {
      chunks.addAll(added.value());
    }
  }

  /** Returns whether records were dropped, so that no more are of use. */
  synchronized boolean isFull() {
    return isFull;
  }

  /** Counts a record without keeping it. */
  synchronized void skip() {
    count++;
  }

  /** Returns the rows, and none if they were too many. */
  @Override
  public synchronized List<RowBytes> value() {
    close();
    return chunks;
  }

  @Override
  public synchronized boolean isZero() {
    return count == 0;
  }

  @Override
  public synchronized KeptRecords copy() {
    KeptRecords copy = new KeptRecords(mostOfTask, most);
    copy.chunks = new ArrayList<>(value());
    copy.bytes = bytes;
    copy.count = count;
    copy.isFull = isFull;
    return copy;
  }

  @Override
  public KeptRecords copyAndReset() {
    return new KeptRecords(mostOfTask, most);
  }

  @Override
  public synchronized void reset() {
    drop();
    bytes = 0;
    count = 0;
    isFull = false;
  }

  /** The records of a task are sent once, at its end. */
  @Override
  public boolean excludeFromHeartbeat() {
    return true;
  }

  private long findShare() {
    TaskContext task = TaskContext.get();
    long results = SparkEnv.get().conf().getSizeAsBytes("spark.driver.maxResultSize", "1g");
    return task == null || results == 0
        ? mostOfTask
        : Math.min(mostOfTask, results / PARTS / task.numPartitions());
  }

  private boolean fits(long more, long limit) {
    bytes += more;
    if (!isFull && bytes > limit) {
      drop();
    }
    return !isFull;
  }

  private void drop() {
    isFull = true;
    chunks = new ArrayList<>();
    open = new RowBytes();
  }

  private void close() {
    if (open.rows() > 0) {
      chunks.add(open.trim());
      open = new RowBytes();
    }
  }

  private synchronized void writeObject(ObjectOutputStream stream) throws IOException {
    close();
    stream.defaultWriteObject();
  }
}
