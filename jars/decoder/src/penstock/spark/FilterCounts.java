package penstock.spark;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.parser.ParseException;
import org.apache.spark.sql.catalyst.plans.logical.Filter;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.classic.Dataset;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.FilterExec;
import org.apache.spark.sql.execution.LimitExec;
import org.apache.spark.sql.execution.QueryExecution;
import org.apache.spark.sql.execution.SparkPlan;
import org.apache.spark.sql.execution.adaptive.AdaptiveSparkPlanExec;
import org.apache.spark.sql.execution.adaptive.QueryStageExec;
import org.apache.spark.sql.execution.columnar.InMemoryTableScanExec;
import org.apache.spark.sql.util.QueryExecutionListener;

/**
 * Filters of one pass, each with a mark, and the rows that passed each of them.
 *
 * <p>The first query that runs all of them, on all rows, counts.
 */
public final class FilterCounts {
  private static final Pattern MARKED = Pattern.compile(" = filter (\\d+)\\.(\\d+)\\)");
  private static final Map<Integer, FilterCounts> WATCHED = new ConcurrentHashMap<>();
  private static final Set<String> LISTENED = ConcurrentHashMap.newKeySet(); // sessions

  private final int number;
  private final long[] rows;
  private final CountDownLatch missing = new CountDownLatch(1);

  private FilterCounts(int number, int filters) {
    this.number = number;
    this.rows = new long[filters];
  }

  /**
   * Filters rows by conditions, one after the other.
   *
   * <p>Spark reads a whole plan for each filter that is added to a table; here it does so once.
   *
   * @param conditions a condition per line
   */
  public static Dataset<Row> filter(Dataset<Row> rows, String conditions) throws ParseException {
    LogicalPlan plan = rows.queryExecution().analyzed();
    SparkSession session = rows.sparkSession();
    for (String each : conditions.split("\n")) {
      plan = new Filter(session.sessionState().sqlParser().parseExpression(each), plan);
    }
    return Dataset.ofRows(session, plan);
  }

  /** Starts to take the counts of a pass, by the number in its filters. */
  public static FilterCounts watch(SparkSession session, int number, int filters) {
    if (LISTENED.add(session.sessionUUID())) {
      session.listenerManager().register(new Listener());
    }
    FilterCounts watched = new FilterCounts(number, filters);
    WATCHED.put(number, watched);
    return watched;
  }

  /** Takes the counts of a query that ran, whoever ran it. */
  public static void report(QueryExecution execution) {
    if (!WATCHED.isEmpty()) {
      Map<FilterCounts, Long[]> found = new HashMap<>();
      read(execution.executedPlan(), found);
      found.forEach(FilterCounts::take);
    }
  }

  /** Returns the rows that passed each filter, in text; nothing if no query is reported in time. */
  public String waitFor(long milliseconds) throws InterruptedException {
    return missing.await(milliseconds, TimeUnit.MILLISECONDS)
        ? Arrays.toString(rows).replaceAll("[\\[\\],]", "")
        : "";
  }

  /** Takes no more counts. */
  public void close() {
    WATCHED.remove(number);
  }

  private synchronized void take(Long[] counts) {
    if (missing.getCount() > 0 && !Arrays.asList(counts).contains(null)) {
      for (int at = 0; at < counts.length; at++) {
        rows[at] = counts[at];
      }
      missing.countDown();
    }
  }

  private static void read(SparkPlan plan, Map<FilterCounts, Long[]> found) {
    if (plan instanceof LimitExec) {
      return; // it ends before all rows are read, as isEmpty and take do
    }
    if (plan instanceof FilterExec filter) {
      Matcher marked = MARKED.matcher(filter.condition().toString());
      if (marked.find()) {
        FilterCounts watched = WATCHED.get(Integer.valueOf(marked.group(1)));
        if (watched != null) {
          Long[] counts = found.computeIfAbsent(watched, it -> new Long[it.rows.length]);
          counts[Integer.parseInt(marked.group(2))] =
              plan.metrics().apply("numOutputRows").value();
        }
      }
    }
    // The plan of these is not among their children.
    if (plan instanceof AdaptiveSparkPlanExec adaptive) {
      read(adaptive.executedPlan(), found);
    } else if (plan instanceof QueryStageExec stage) {
      read(stage.plan(), found);
    } else if (plan instanceof InMemoryTableScanExec scan) {
      read(scan.relation().cachedPlan(), found);
    }
    scala.collection.Iterator<SparkPlan> children = plan.children().iterator();
    while (children.hasNext()) {
      read(children.next(), found);
    }
  }

  private static final class Listener implements QueryExecutionListener {
    @Override
    public void onSuccess(String name, QueryExecution execution, long nanoseconds) {
      report(execution);
    }

    @Override
    public void onFailure(String name, QueryExecution execution, Exception error) {}
  }
}
