package penstock.spark;

import java.io.IOException;
import java.io.ObjectOutputStream;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.util.AccumulatorV2;

/**
 * Records that tasks keep for the driver, as the bytes of rows.
 *
 * <p>A task keeps so many bytes, and the driver those of all its tasks. Records beyond that are
 * counted and dropped, so whoever wants all of them reads them again.
 */
final class KeptRecords extends AccumulatorV2<byte[], List<byte[]>> {
  private static final long serialVersionUID = 1;

  private final long mostOfTask;
  private final long most;
  private List<byte[]> rows = new ArrayList<>();
  private long bytes;
  private long count;

  KeptRecords(long mostOfTask, long most) {
    this.mostOfTask = mostOfTask;
    this.most = most;
  }

  @Override
  public synchronized void add(byte[] row) {
    keep(List.of(row), row.length, 1, mostOfTask);
  }

  @Override
  public synchronized void merge(AccumulatorV2<byte[], List<byte[]>> other) {
    KeptRecords added = (KeptRecords) other;
    keep(added.rows, added.bytes, added.count, most);
  }

  /** Returns whether records were dropped, so that no more are of use. */
  synchronized boolean isFull() {
    return rows.size() < count;
  }

  /** Counts a record without keeping it. */
  synchronized void drop() {
    count++;
  }

  private void keep(List<byte[]> added, long more, long records, long limit) {
    count += records;
    bytes += more;
    if (bytes <= limit) {
      rows.addAll(added);
    } else {
      rows.clear();
    }
  }

  /** Returns the rows, and none if they were too many. */
  @Override
  public synchronized List<byte[]> value() {
    return isFull() ? List.of() : rows;
  }

  @Override
  public synchronized boolean isZero() {
    return count == 0;
  }

  @Override
  public synchronized KeptRecords copy() {
    KeptRecords copy = new KeptRecords(mostOfTask, most);
    copy.rows = new ArrayList<>(rows);
    copy.bytes = bytes;
    copy.count = count;
    return copy;
  }

  @Override
  public KeptRecords copyAndReset() {
    return new KeptRecords(mostOfTask, most);
  }

  @Override
  public synchronized void reset() {
    rows = new ArrayList<>();
    bytes = 0;
    count = 0;
  }

  /** The records of a task are sent once, at its end. */
  @Override
  public boolean excludeFromHeartbeat() {
    return true;
  }

  private synchronized void writeObject(ObjectOutputStream stream) throws IOException {
    stream.defaultWriteObject();
  }
}
