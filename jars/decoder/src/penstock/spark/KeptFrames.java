package penstock.spark;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.function.FlatMapFunction;
import org.apache.spark.api.java.function.Function;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.classic.SparkSession;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.storage.StorageLevel;

/**
 * The frames of a batch, kept by the executors in chunks of one schema key each, so that a table
 * reads only the frames of its own schemas.
 */
public final class KeptFrames {
  private final JavaRDD<FrameChunk> chunks;
  private final StructType type;

  private KeptFrames(JavaRDD<FrameChunk> chunks, StructType type) {
    this.chunks = chunks;
    this.type = type;
  }

  /** Keeps frames, in so many tasks at most, when they are first read; they have a schema key. */
  public static KeptFrames keep(Dataset<Row> frames, int tasks) {
    StructType type = frames.schema();
    JavaRDD<InternalRow> rows = frames.queryExecution().toRdd().toJavaRDD();
    JavaRDD<FrameChunk> chunks =
        rows.coalesce(Math.min(tasks, rows.getNumPartitions()))
            .mapPartitions(new MakeChunks(type.fieldIndex("schema")));
    return new KeptFrames(chunks.persist(StorageLevel.MEMORY_AND_DISK()), type);
  }

  /** Returns how many frames have each of these keys, and then how many there are, as text. */
  public String count(String keys) {
    Map<ByteBuffer, Long> counts = new HashMap<>();
    long all = 0;
    for (Map<String, Long> task : chunks.mapPartitions(new CountFrames(keys)).collect()) {
      for (Map.Entry<String, Long> each : task.entrySet()) {
        counts.merge(parse(each.getKey()), each.getValue(), Long::sum);
        all += each.getValue();
      }
    }
    Stream<Long> own = split(keys).map(key -> counts.getOrDefault(parse(key), 0L));
    return Stream.concat(own, Stream.of(all)).map(String::valueOf).collect(Collectors.joining(" "));
  }

  /** Returns the frames that have one of these keys, or those that have none of them. */
  public Dataset<Row> read(SparkSession session, String keys, boolean others) {
    JavaRDD<InternalRow> rows =
        chunks.filter(new IsChosen(keys, others)).flatMap(new ReadRows(type.size()));
    return session.internalCreateDataFrame(rows.rdd(), type, false);
  }

  /** Frees the memory and the disks. */
  public void free() {
    chunks.unpersist(false);
  }

  private static Stream<String> split(String keys) {
    return Stream.of(keys.split(" ")).filter(each -> !each.isEmpty());
  }

  private static ByteBuffer parse(String key) {
    return ByteBuffer.wrap(HexFormat.of().parseHex(key));
  }

  private static Set<ByteBuffer> parseAll(String keys) {
    return split(keys).map(KeptFrames::parse).collect(Collectors.toCollection(HashSet::new));
  }

  private record MakeChunks(int schema) implements FlatMapFunction<Iterator<InternalRow>, FrameChunk> {
    @Override
    public Iterator<FrameChunk> call(Iterator<InternalRow> rows) {
      return new FrameChunks(rows, schema);
    }
  }

  private record CountFrames(String keys)
      implements FlatMapFunction<Iterator<FrameChunk>, Map<String, Long>> {
    @Override
    public Iterator<Map<String, Long>> call(Iterator<FrameChunk> chunks) {
      Set<ByteBuffer> known = parseAll(keys);
      Map<String, Long> counts = new HashMap<>();
      while (chunks.hasNext()) {
        FrameChunk each = chunks.next();
        boolean isKnown = known.contains(ByteBuffer.wrap(each.schema()));
        String key = isKnown ? HexFormat.of().formatHex(each.schema()) : "";
        counts.merge(key, (long) each.rows().rows(), Long::sum);
      }
      return List.of(counts).iterator();
    }
  }

  private static final class IsChosen implements Function<FrameChunk, Boolean> {
    private static final long serialVersionUID = 1;
    private final String keys;
    private final boolean others;
    private transient Set<ByteBuffer> parsed;

    IsChosen(String keys, boolean others) {
      this.keys = keys;
      this.others = others;
    }

    @Override
    public Boolean call(FrameChunk chunk) {
      if (parsed == null) {
        parsed = parseAll(keys);
      }
      return parsed.contains(ByteBuffer.wrap(chunk.schema())) != others;
    }
  }

  private record ReadRows(int width) implements FlatMapFunction<FrameChunk, InternalRow> {
    @Override
    public Iterator<InternalRow> call(FrameChunk chunk) {
      return chunk.rows().read(width);
    }
  }
}
