package penstock.spark;

import java.io.IOException;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Spliterator;
import java.util.Spliterators;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import net.razorvine.pickle.Pickler;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import scala.Option;

/**
 * Keeps the records of a pass that need another one, so that they are not read again.
 *
 * <p>SQL calls it with a struct for each such record, and it is always true; {@link TableTask} calls
 * it with frames. The struct begins with
 * topic, partition, offset, status and the key of the schema. After the pass, the driver reads the
 * structs as a table.
 */
public final class RecordKeeper implements UnboundFunction, ScalarFunction<Boolean>, Serializable {
  private static final long serialVersionUID = 1;
  private static final int STATUS = 3;
  private static final int SCHEMA = 4;

  private final String name = "keeper_" + UUID.randomUUID().toString().replace("-", "");
  private final KeptRecords kept;
  private StructType type;
  private int[] places; // of the struct's columns in frames
  private transient UnsafeProjection projection;

  RecordKeeper(SparkSession session, long mostOfTask, long most) {
    kept = new KeptRecords(mostOfTask, most);
    kept.register(session.sparkContext(), Option.empty(), false);
  }

  /** Keeps a record; Spark finds this method by its name and its argument. */
  public boolean invoke(InternalRow record) {
    if (kept.isFull()) {
      kept.skip();
      return true;
    }
    if (projection == null) {
      projection = UnsafeProjection.create(type);
    }
    kept.add(projection.apply(record));
    return true;
  }

  /** Prepares to keep frames, which have these columns, with those of the given names. */
  void bindFrames(StructType frames, List<String> columns) {
    type = new StructType(columns.stream().map(frames::apply).toArray(StructField[]::new));
    places = columns.stream().mapToInt(frames::fieldIndex).toArray();
  }

  /** Keeps a frame, with another status. */
  void keep(InternalRow frame, UTF8String status) {
    if (kept.isFull()) {
      kept.skip();
      return;
    }
    Object[] values = new Object[places.length];
    for (int at = 0; at < places.length; at++) {
      values[at] = frame.get(places[at], type.fields()[at].dataType());
    }
    values[STATUS] = status;
    invoke(new GenericInternalRow(values));
  }

  /**
   * Returns whether so many records were kept, each once: Spark adds up all attempts of a task
   * before a shuffle.
   */
  public boolean hasAll(long records) {
    long found = kept.value().stream().mapToLong(RowBytes::rows).sum();
    return found == records && rows().map(Place::of).distinct().count() == records;
  }

  /** Returns topics and keys of schemas, and how many records of a status have them, as lines. */
  public String countSchemas(String status) {
    return rows()
        .filter(row -> status.equals(row.getString(STATUS)))
        .collect(
            Collectors.groupingBy(
                row -> row.getString(0) + " " + HexFormat.of().formatHex(row.getBinary(SCHEMA)),
                Collectors.counting()))
        .entrySet()
        .stream()
        .map(each -> each.getKey() + " " + each.getValue())
        .collect(Collectors.joining("\n"));
  }

  /** Returns the records that were kept, with the struct's columns. */
  public Dataset<Row> read(SparkSession session) {
    JavaSparkContext context = JavaSparkContext.fromSparkContext(session.sparkContext());
    List<RowBytes> chunks = kept.value();
    int tasks = Math.max(1, Math.min(context.defaultParallelism(), chunks.size()));
    JavaRDD<InternalRow> rows = context.parallelize(chunks, tasks).flatMap(new ReadRows(type.size()));
    return session.internalCreateDataFrame(rows.rdd(), type, false);
  }

  /** Returns how many chunks {@link #pickle} has. */
  public int chunks() {
    return kept.value().size();
  }

  /**
   * Returns the records of a chunk but those of a status, for the process of the driver: a pickled
   * list of tuples with topic, partition, offset, status, key, value, headers and milliseconds.
   */
  public byte[] pickle(int chunk, String left) throws IOException {
    int key = type.fieldIndex("key");
    int value = type.fieldIndex("value");
    int time = type.fieldIndex("timestamp");
    int headers = Arrays.asList(type.fieldNames()).indexOf("headers");
    List<Object> found = new ArrayList<>();
    kept.value()
        .get(chunk)
        .read(type.size())
        .forEachRemaining(
            row -> {
              String status = row.getString(STATUS);
              if (!status.equals(left)) {
                found.add(
                    new Object[] {
                      row.getString(0),
                      row.getInt(1),
                      row.getLong(2),
                      status,
                      row.isNullAt(key) ? null : row.getBinary(key),
                      row.isNullAt(value) ? null : row.getBinary(value),
                      headers < 0 || row.isNullAt(headers) ? null : pairs(row.getArray(headers)),
                      row.isNullAt(time) ? null : Math.floorDiv(row.getLong(time), 1000L)
                    });
              }
            });
    return new Pickler(false).dumps(found);
  }

  private static Object[] pairs(ArrayData headers) {
    Object[] pairs = new Object[headers.numElements()];
    for (int at = 0; at < pairs.length; at++) {
      InternalRow each = headers.getStruct(at, 2);
      pairs[at] = new Object[] {each.getString(0), each.isNullAt(1) ? null : each.getBinary(1)};
    }
    return pairs;
  }

  private Stream<InternalRow> rows() {
    return kept.value().stream().flatMap(each -> stream(each.read(type.size())));
  }

  private static Stream<InternalRow> stream(Iterator<InternalRow> rows) {
    int order = Spliterator.ORDERED;
    return StreamSupport.stream(Spliterators.spliteratorUnknownSize(rows, order), false);
  }

  @Override
  public BoundFunction bind(StructType input) {
    type = (StructType) input.fields()[0].dataType();
    return this;
  }

  @Override
  public DataType[] inputTypes() {
    return new DataType[] {type};
  }

  @Override
  public DataType resultType() {
    return DataTypes.BooleanType;
  }

  /** Returns false, so that Spark neither moves nor repeats a call. */
  @Override
  public boolean isDeterministic() {
    return false;
  }

  @Override
  public boolean isResultNullable() {
    return false;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public String canonicalName() {
    return "penstock_decoder." + name;
  }

  @Override
  public String description() {
    return "keeps records for another pass";
  }

  @Override
  public String toString() {
    return name;
  }

  private record Place(String topic, int partition, long offset) {
    static Place of(InternalRow row) {
      return new Place(row.getString(0), row.getInt(1), row.getLong(2));
    }
  }

  private record ReadRows(int width) implements FlatMapFunction<RowBytes, InternalRow> {
    @Override
    public Iterator<InternalRow> call(RowBytes rows) {
      return rows.read(width);
    }
  }
}
