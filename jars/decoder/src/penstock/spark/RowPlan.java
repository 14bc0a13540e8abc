package penstock.spark;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import java.lang.ref.SoftReference;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.UUID;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.Attribute;
import org.apache.spark.sql.catalyst.expressions.Expression;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.MutableProjection;
import org.apache.spark.sql.catalyst.plans.logical.LogicalPlan;
import org.apache.spark.sql.catalyst.plans.logical.Project;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.execution.LogicalRDD;
import org.apache.spark.sql.types.StructType;
import scala.collection.immutable.Seq;

/**
 * Expressions that Spark analyses once, and that make rows in any number of jobs.
 *
 * <p>A query costs Spark tens of milliseconds, however few its rows are; see {@link TablePass}.
 */
public final class RowPlan implements Serializable {
  private static final long serialVersionUID = 1;

  private final String id = UUID.randomUUID().toString();
  private final byte[] steps;

  private RowPlan(byte[] steps) {
    this.steps = steps;
  }

  /** Returns an empty table, to whose columns expressions can be applied. */
  public static Dataset<Row> start(SparkSession session, StructType type) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(session.sparkContext());
    return session.internalCreateDataFrame(context.<InternalRow>emptyRDD().rdd(), type, false);
  }

  /** Returns the plan of rows that are made of those of {@link #start} by expressions alone. */
  public static RowPlan of(Dataset<Row> rows) throws IOException {
    List<Step> steps = new LinkedList<>();
    LogicalPlan plan = rows.queryExecution().optimizedPlan();
    while (plan instanceof Project project) {
      plan = project.child();
      steps.add(0, new Step(project.projectList(), plan.output()));
    }
    if (!(plan instanceof LogicalRDD)) {
      throw new IllegalArgumentException("found the plan " + plan + ", expected expressions");
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ObjectOutputStream stream = new ObjectOutputStream(bytes)) {
      stream.writeObject(steps);
    }
    return new RowPlan(bytes.toByteArray());
  }

  /** Takes the compiled expressions for a task, which must give them back. */
  Steps take() {
    Steps idle = Steps.poll(id);
    Steps taken = idle == null ? new Steps(id, read()) : idle;
    taken.projections.forEach(each -> each.initialize(TaskContext.getPartitionId()));
    return taken;
  }

  @SuppressWarnings("unchecked")
  private List<Step> read() {
    try (ObjectInputStream stream = new StepStream(steps)) {
      return (List<Step>) stream.readObject();
    } catch (IOException | ClassNotFoundException error) {
      throw new IllegalStateException("found a plan of rows that cannot be read", error);
    }
  }

  private record Step(Seq<?> out, Seq<Attribute> in) implements Serializable {}

  /** Finds the classes of this jar too, which a task's class loader knows. */
  private static final class StepStream extends ObjectInputStream {
    StepStream(byte[] steps) throws IOException {
      super(new ByteArrayInputStream(steps));
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass described)
        throws IOException, ClassNotFoundException {
      try {
        ClassLoader loader = Thread.currentThread().getContextClassLoader();
        return Class.forName(described.getName(), false, loader);
      } catch (ClassNotFoundException primitive) {
        return super.resolveClass(described);
      }
    }
  }

  /** The compiled expressions of a plan; used by one task at a time, and kept for the next one. */
  static final class Steps {
    private static final int MOST_PLANS = 1_000;

    /**
     * Those that no task uses, by plan; the plan that was used least recently is forgotten.
     *
     * <p>Each holds the last row that it made, with its texts and their payload. Where the JVM
     * needs this memory, it takes it, and expressions are compiled again.
     */
    private static final Map<String, Queue<SoftReference<Steps>>> IDLE =
        new LinkedHashMap<>(16, 0.75f, true) {
          @Override
          protected boolean removeEldestEntry(
              Map.Entry<String, Queue<SoftReference<Steps>>> eldest) {
            return size() > MOST_PLANS;
          }
        };

    private final String plan;
    private final List<MutableProjection> projections = new ArrayList<>();

    @SuppressWarnings("unchecked")
    private Steps(String plan, List<Step> steps) {
      this.plan = plan;
      for (Step each : steps) {
        MutableProjection made = MutableProjection.create((Seq<Expression>) each.out(), each.in());
        projections.add(made.target(new GenericInternalRow(each.out().size())));
      }
    }

    /** Returns the row that is made of another; it is valid until the next call. */
    InternalRow apply(InternalRow row) {
      InternalRow made = row;
      for (MutableProjection each : projections) {
        made = each.apply(made);
      }
      return made;
    }

    void giveBack() {
      synchronized (IDLE) {
        IDLE.computeIfAbsent(plan, it -> new LinkedList<>()).add(new SoftReference<>(this));
      }
    }

    private static Steps poll(String plan) {
      synchronized (IDLE) {
        Queue<SoftReference<Steps>> idle = IDLE.getOrDefault(plan, new LinkedList<>());
        Steps found = null;
        while (found == null && !idle.isEmpty()) {
          found = idle.poll().get();
        }
        return found;
      }
    }
  }
}
