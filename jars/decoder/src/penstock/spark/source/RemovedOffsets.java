package penstock.spark.source;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.common.TopicPartition;
import org.apache.spark.SparkContext;
import org.apache.spark.util.CollectionAccumulator;

/**
 * Offsets that Kafka had removed when they were to be read.
 *
 * <p>Spark's consumer goes on behind them. Whoever compares what was found with what Kafka has now
 * cannot tell them from offsets without a record, nor from records that were removed later.
 */
public final class RemovedOffsets {
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

  /** Returns a range as `topic partition start end`. */
  static String describe(TopicPartition place, long start, long end) {
    return place.topic() + " " + place.partition() + " " + start + " " + end;
  }

  /**
   * Returns ranges, a line each, and forgets them.
   *
   * @param places `topic partition` per line; ranges of others are kept
   */
  public static String take(String places) {
    Set<String> wanted = places.lines().collect(Collectors.toSet());
    synchronized (FOUND) {
      List<String> all = new ArrayList<>(FOUND.value());
      FOUND.reset();
      all.stream().filter(each -> !wanted.contains(place(each))).forEach(FOUND::add);
      return all.stream().filter(each -> wanted.contains(place(each))).distinct()
          .collect(Collectors.joining("\n"));
    }
  }

  private static String place(String range) {
    return range.substring(0, range.indexOf(' ', range.indexOf(' ') + 1));
  }
}
