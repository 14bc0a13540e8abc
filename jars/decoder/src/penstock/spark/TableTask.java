package penstock.spark;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.JoinedRow;
import org.apache.spark.sql.connector.write.DataWriter;
import org.apache.spark.sql.connector.write.WriterCommitMessage;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/** The task of a {@link TablePass}: its frames become rows, kept records, and counts. */
final class TableTask implements FlatMapFunction<Iterator<InternalRow>, TableTask.Done> {
  private static final long serialVersionUID = 1;
  private static final UTF8String ALL = UTF8String.fromString(TablePass.ALL);
  private static final UTF8String FRAMED = UTF8String.fromString("framed");
  private static final UTF8String DECODED = UTF8String.fromString("decoded");
  private static final UTF8String UNKNOWN = UTF8String.fromString("unknown");
  private static final UTF8String ELSEWHERE = UTF8String.fromString("elsewhere");
  private static final UTF8String EMPTY = UTF8String.fromString("empty");
  private static final UTF8String TOMBSTONE = UTF8String.fromString("tombstone");

  private final ArrayList<TablePass.Group> groups;
  private final ArrayList<TablePass.Target> targets;
  private final RecordKeeper keeper;
  private final int topic;
  private final int schema;
  private final int status;
  private final int compression;
  private final int payload;

  TableTask(
      ArrayList<TablePass.Group> groups,
      ArrayList<TablePass.Target> targets,
      StructType frames,
      RecordKeeper keeper) {
    this.groups = groups;
    this.targets = targets;
    this.keeper = keeper;
    topic = frames.fieldIndex("topic");
    schema = frames.fieldIndex("schema");
    status = frames.fieldIndex("status");
    compression = frames.fieldIndex("compression");
    payload = frames.fieldIndex("payload");
  }

  @Override
  public Iterator<Done> call(Iterator<InternalRow> frames) throws Exception {
    try (Work work = new Work()) {
      while (frames.hasNext()) {
        work.take(frames.next());
      }
      return List.of(work.finish()).iterator();
    }
  }

  /** The counts of a task, by group, table and status, and the files of its tables. */
  record Done(HashMap<String, Long> counts, HashMap<Integer, WriterCommitMessage> messages)
      implements Serializable {}

  private final class Work implements AutoCloseable {
    private final Map<UTF8String, Integer> groupOf = new HashMap<>();
    private final Open[] open = new Open[targets.size()];
    private final Map<Integer, Map<UTF8String, long[]>> others = new HashMap<>();

    Work() {
      for (int at = 0; at < groups.size(); at++) {
        for (String each : groups.get(at).topics()) {
          groupOf.put(UTF8String.fromString(each), at);
        }
      }
    }

    void take(InternalRow frame) throws IOException {
      Integer group = groupOf.get(frame.getUTF8String(topic));
      if (group == null) {
        group = groupOf.get(ALL);
        if (group == null) {
          return;
        }
      }
      UTF8String found = frame.getUTF8String(status);
      TablePass.Group tables = groups.get(group);
      if (!FRAMED.equals(found)) {
        if (tables.isFirst()) {
          count(group, found, frame);
        }
        return;
      }
      byte[] key = frame.getBinary(schema);
      Integer target = tables.byKey().get(new TablePass.Key(key));
      if (target == null) {
        count(group, UNKNOWN, frame);
      } else if (target >= 0) {
        UTF8String decoded =
            open(target).take(frame, key, frame.getUTF8String(compression), frame.getBinary(payload));
        if (isKept(decoded)) {
          keeper.keep(frame, decoded);
        }
      } else {
        count(group, ELSEWHERE, frame);
      }
    }

    Done finish() throws IOException {
      HashMap<String, Long> counts = new HashMap<>();
      HashMap<Integer, WriterCommitMessage> messages = new HashMap<>();
      others.forEach((group, own) -> add(counts, group, TablePass.NO_TABLE, own));
      for (int at = 0; at < open.length; at++) {
        if (open[at] != null) {
          add(counts, targets.get(at).group(), at, open[at].counts);
          if (open[at].files != null) {
            messages.put(at, open[at].commit());
          }
        }
      }
      return new Done(counts, messages);
    }

    /** Closes all writers, and aborts those that have not committed. */
    @Override
    public void close() throws IOException {
      IOException first = null;
      for (Open each : open) {
        try {
          if (each != null) {
            each.close();
          }
        } catch (IOException error) {
          first = first == null ? error : first;
        }
      }
      if (first != null) {
        throw first;
      }
    }

    private Open open(int target) throws IOException {
      if (open[target] == null) {
        open[target] = new Open(targets.get(target));
      }
      return open[target];
    }

    private void count(int group, UTF8String found, InternalRow frame) {
      increment(others.computeIfAbsent(group, it -> new HashMap<>()), found);
      if (isKept(found)) {
        keeper.keep(frame, found);
      }
    }

    private void add(Map<String, Long> counts, int group, int table, Map<UTF8String, long[]> own) {
      own.forEach((found, many) -> counts.put(group + " " + table + " " + found, many[0]));
    }
  }

  /** Returns whether records of a status need another pass. */
  private static boolean isKept(UTF8String status) {
    return !DECODED.equals(status)
        && !TOMBSTONE.equals(status)
        && !ELSEWHERE.equals(status)
        && !EMPTY.equals(status);
  }

  private static void increment(Map<UTF8String, long[]> counts, UTF8String found) {
    // The status of a frame is a view of memory that the next frame has.
    long[] count = counts.get(found);
    if (count == null) {
      counts.put(found.copy(), new long[] {1});
    } else {
      count[0]++;
    }
  }

  /** A table that has frames in this task. */
  private static final class Open {
    private static final int STATUS = 0; // in a record; see RecordDecoder

    final Map<UTF8String, long[]> counts = new HashMap<>();
    final DataWriter<InternalRow> files;
    private final RecordDecoder decoder;
    private final RowPlan.Steps rows;
    private final GenericInternalRow record = new GenericInternalRow(1);
    private final JoinedRow joined = new JoinedRow();
    private boolean isCommitted;

    Open(TablePass.Target target) {
      decoder = target.decoder();
      rows = target.rows().take();
      TaskContext context = TaskContext.get();
      files =
          target.files() == null
              ? null
              : target.files().createWriter(context.partitionId(), context.taskAttemptId());
    }

    /** Writes a frame's row, if it has one; returns the frame's status. */
    UTF8String take(InternalRow frame, byte[] schema, UTF8String compression, byte[] payload)
        throws IOException {
      InternalRow decoded = decoder.invoke(schema, compression, payload);
      UTF8String found = decoded.getUTF8String(STATUS);
      if (DECODED.equals(found)) {
        record.update(0, decoded);
        InternalRow row = rows.apply(joined.apply(frame, record));
        if (row.getBoolean(row.numFields() - 1)) {
          found = EMPTY;
        } else if (files != null) {
          files.write(row);
        }
      }
      increment(counts, found);
      return found;
    }

    WriterCommitMessage commit() throws IOException {
      WriterCommitMessage made = files.commit();
      isCommitted = true;
      return made;
    }

    void close() throws IOException {
      rows.giveBack();
      if (files != null) {
        try {
          if (!isCommitted) {
            files.abort();
          }
        } finally {
          files.close();
        }
      }
    }
  }
}
