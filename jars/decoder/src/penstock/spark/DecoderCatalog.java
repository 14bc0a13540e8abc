package penstock.spark;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.FunctionCatalog;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The functions that decode records, one for each set of schema versions, and those that keep
 * records, one for each pass, as Spark's SQL finds them.
 *
 * <p>The driver adds a function and names it in its queries, which then hold it. Where neither a
 * query nor the driver's Python process holds it any longer, the JVM frees it.
 */
public final class DecoderCatalog implements FunctionCatalog {
  private static final Map<String, WeakReference<UnboundFunction>> FUNCTIONS =
      new ConcurrentHashMap<>();

  private String name;

  /** Returns the function for a definition; the caller must hold it while queries are made. */
  public static RecordDecoder add(String definition) {
    return add(new RecordDecoder(definition));
  }

  /** Returns a function that keeps so many bytes of a task and of all; hold it like a decoder. */
  public static RecordKeeper addKeeper(SparkSession session, long mostOfTask, long most) {
    return add(new RecordKeeper(session, mostOfTask, most));
  }

  private static <F extends UnboundFunction> F add(F function) {
    FUNCTIONS.values().removeIf(each -> each.get() == null);
    FUNCTIONS.put(function.name(), new WeakReference<>(function));
    return function;
  }

  @Override
  public void initialize(String name, CaseInsensitiveStringMap options) {
    this.name = name;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Identifier[] listFunctions(String[] namespace) {
    return new Identifier[0];
  }

  @Override
  public UnboundFunction loadFunction(Identifier identifier) throws NoSuchFunctionException {
    WeakReference<UnboundFunction> found = FUNCTIONS.get(identifier.name());
    UnboundFunction function = found == null ? null : found.get();
    if (function == null) {
      throw new NoSuchFunctionException(identifier);
    }
    return function;
  }
}
