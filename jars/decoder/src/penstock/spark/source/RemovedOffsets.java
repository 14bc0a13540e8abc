package penstock.spark.source;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.SparkContext;
import org.apache.spark.TaskContext;
import org.apache.spark.util.CollectionAccumulator;

/**
 * Offsets that Kafka had removed when they were to be read.
 *
 * <p>Spark's consumer goes on behind them. Whoever compares what was found with what Kafka has now
 * cannot tell them from offsets without a record, nor from records that were removed later.
 */
public final class RemovedOffsets {
  // Spark sets it for all that a query does, in its driver's threads and in tasks.
  private static final String QUERY = "sql.streaming.queryId";
  // Text, since the driver may not know classes of this jar where it takes results of tasks.
  private static final CollectionAccumulator<String> FOUND = new CollectionAccumulator<>();

  private RemovedOffsets() {}

  /** Returns what the driver's plans and the tasks add to. */
  static CollectionAccumulator<String> open() {
    synchronized (FOUND) {
      if (!FOUND.isRegistered()) {
        SparkContext.getOrCreate().register(FOUND);
      }
    }
    return FOUND;
  }

  /** Returns a range as `query topic partition start end`, in a task or in the driver. */
  static String describe(TopicPartition place, long start, long end) {
    TaskContext task = TaskContext.get();
    String query = task == null ? queryOfDriver() : task.getLocalProperty(QUERY);
    return query + " " + place.topic() + " " + place.partition() + " " + start + " " + end;
  }

  private static String queryOfDriver() {
    return SparkContext.getOrCreate().getLocalProperty(QUERY);
  }

  /**
   * Returns ranges that this query found, as `topic partition start end` in a line each, and
   * forgets them.
   *
   * @param places `topic partition` per line; ranges of others are kept
   */
  public static String take(String places) {
    String query = queryOfDriver() + " ";
    Set<String> wanted = places.lines().map(query::concat).collect(Collectors.toSet());
    synchronized (FOUND) {
      List<String> all = new ArrayList<>(FOUND.value());
      FOUND.reset();
      all.stream().filter(each -> !wanted.contains(place(each))).forEach(FOUND::add);
      return all.stream().filter(each -> wanted.contains(place(each))).distinct()
          .map(each -> each.substring(query.length())).collect(Collectors.joining("\n"));
    }
  }

  private static String place(String range) {
    return range.substring(0, range.lastIndexOf(' ', range.lastIndexOf(' ') - 1));
  }
}
