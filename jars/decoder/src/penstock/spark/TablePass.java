package penstock.spark;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.connector.write.DataWriterFactory;
import org.apache.spark.sql.connector.write.WriterCommitMessage;

/**
 * One job that decodes the frames of a batch and writes the files of many tables; the driver then
 * commits the files of each.
 *
 * <p>The topic and the schema key of a frame determine its table. Tables of a group share topics;
 * frames whose key the group does not know are of unknown versions.
 */
public final class TablePass {
  /** In counts, the table of frames that belong to no table of their group. */
  static final int NO_TABLE = -1;

  /** In place of topics. */
  static final String ALL = "*";

  private final Dataset<Row> frames;
  private final RecordKeeper keeper;
  private final ArrayList<Group> groups = new ArrayList<>();
  private final ArrayList<Target> targets = new ArrayList<>();
  private final Map<Integer, List<WriterCommitMessage>> messages = new HashMap<>();

  /** Prepares a job over frames, of whose unknown and bad ones the keeper keeps some columns. */
  public TablePass(Dataset<Row> frames, RecordKeeper keeper, String kept) {
    this.frames = frames;
    this.keeper = keeper;
    keeper.bindFrames(frames.schema(), List.of(kept.split(" ")));
  }

  /**
   * Adds a group.
   *
   * @param topics a topic per line; {@link #ALL} for all
   * @param isFirst whether no pass has seen the frames, else all that is not framed is left out
   */
  public int addGroup(String topics, boolean isFirst) {
    groups.add(new Group(List.of(topics.split("\n")), isFirst, new HashMap<>()));
    return groups.size() - 1;
  }

  /** Adds a table to a group, with the keys of its schemas, and returns its number. */
  public int addTable(
      int group, String keys, RecordDecoder decoder, RowPlan rows, DataWriterFactory files) {
    targets.add(new Target(group, decoder, rows, files));
    put(group, keys, targets.size() - 1);
    return targets.size() - 1;
  }

  /** Counts the frames of some keys as elsewhere: whoever calls this takes them. */
  public void leave(int group, String keys) {
    put(group, keys, Group.ELSEWHERE);
  }

  /** Runs the job; returns lines of a group, a table or -1, a status, and how many have it. */
  public String run() {
    JavaRDD<InternalRow> rows = frames.queryExecution().toRdd().toJavaRDD();
    int most = JavaSparkContext.fromSparkContext(rows.context()).defaultParallelism();
    List<TableTask.Done> done =
        rows.coalesce(Math.min(most, rows.getNumPartitions()))
            .mapPartitions(new TableTask(groups, targets, frames.schema(), keeper))
            .collect();
    Map<String, Long> counts = new TreeMap<>();
    for (TableTask.Done each : done) {
      each.counts().forEach((key, count) -> counts.merge(key, count, Long::sum));
      each.messages()
          .forEach((at, found) -> messages.computeIfAbsent(at, it -> new ArrayList<>()).add(found));
    }
    StringBuilder lines = new StringBuilder();
    counts.forEach((key, count) -> lines.append(key).append(' ').append(count).append('\n'));
    return lines.toString();
  }

  /** Returns what the tasks say of the files of a table, for its commit. */
  public WriterCommitMessage[] messages(int table) {
    return messages.getOrDefault(table, List.of()).toArray(new WriterCommitMessage[0]);
  }

  private void put(int group, String keys, int target) {
    for (String each : keys.split(" ")) {
      if (!each.isEmpty()) {
        groups.get(group).byKey.put(new Key(HexFormat.of().parseHex(each)), target);
      }
    }
  }

  /** A schema key; a buffer cannot be sent to tasks. */
  record Key(byte[] bytes) implements Serializable {
    @Override
    public boolean equals(Object other) {
      return other instanceof Key key && Arrays.equals(bytes, key.bytes);
    }

    @Override
    public int hashCode() {
      return Arrays.hashCode(bytes);
    }
  }

  /** Tables of the same topics. */
  record Group(List<String> topics, boolean isFirst, HashMap<Key, Integer> byKey)
      implements Serializable {
    static final int ELSEWHERE = -2;
  }

  /**
   * A table: the decoder of its frames, the rows that are made of a frame and its record, and its
   * files; null if its rows are only counted.
   *
   * <p>The last column of the rows, which its files do not have, says whether a record is empty.
   */
  record Target(int group, RecordDecoder decoder, RowPlan rows, DataWriterFactory files)
      implements Serializable {}
}
