package penstock.spark;

import java.lang.ref.WeakReference;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.sql.catalyst.analysis.NoSuchFunctionException;
import org.apache.spark.sql.connector.catalog.FunctionCatalog;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

/**
 * The functions that decode records, one for each set of schema versions, as Spark's SQL finds them.
 *
 * <p>The driver adds a function and names it in its queries, which then hold it. Where neither a
 * query nor the driver's Python process holds it any longer, the JVM frees it.
 */
public final class DecoderCatalog implements FunctionCatalog {
  private static final Map<String, WeakReference<RecordDecoder>> DECODERS =
      new ConcurrentHashMap<>();

  private String name;

  /** Returns the function for a definition; the caller must hold it while queries are made. */
  public static RecordDecoder add(String definition) {
    RecordDecoder decoder = new RecordDecoder(definition);
    DECODERS.values().removeIf(each -> each.get() == null);
    DECODERS.put(decoder.name(), new WeakReference<>(decoder));
    return decoder;
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
    WeakReference<RecordDecoder> found = DECODERS.get(identifier.name());
    RecordDecoder decoder = found == null ? null : found.get();
    if (decoder == null) {
      throw new NoSuchFunctionException(identifier);
    }
    return decoder;
  }
}
