import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.flink.runtime.executiongraph.ErrorInfo;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.util.Collector;
import org.apache.flink.util.SerializedThrowable;
import org.apache.iceberg.DistributionMode;
import org.apache.iceberg.PartitionSpec;
import org.apache.iceberg.avro.AvroSchemaUtil;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.flink.CatalogLoader;
import org.apache.iceberg.flink.sink.dynamic.DynamicIcebergSink;
import org.apache.iceberg.flink.sink.dynamic.DynamicRecord;
import org.apache.iceberg.flink.sink.dynamic.DynamicRecordGenerator;
import org.apache.iceberg.flink.sink.AvroGenericRecordToRowDataMapper;
import org.apache.iceberg.shaded.org.apache.avro.Schema;
import org.apache.iceberg.shaded.org.apache.avro.generic.GenericDatumReader;
import org.apache.iceberg.shaded.org.apache.avro.generic.GenericRecord;
import org.apache.iceberg.shaded.org.apache.avro.io.BinaryDecoder;
import org.apache.iceberg.shaded.org.apache.avro.io.DecoderFactory;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Flink jobs from topics to Iceberg tables by the dynamic sink, one for each change, in one process.
 *
 * <p>The steps are those of the article of Flink's project about this sink: keep the record's bytes,
 * take the schema's id from them, ask the registry for the writer's schema, decode, and give schema
 * and row to the sink. Arguments: brokers, URL of the registry, folder, and the properties of a
 * catalog in JSON, without which tables are in the folder. Each line of the input is a question in
 * JSON, and is answered with a line.
 */
public final class DynamicSinkJobs {
  private static final int MOST_JOBS = 64;
  private static final ObjectMapper JSON = new ObjectMapper();

  private final String brokers;
  private final String registry;
  private final Path folder;
  private final String catalog;
  private final MiniCluster cluster;
  private final Map<String, JobID> jobs = new HashMap<>();

  private DynamicSinkJobs(String brokers, String registry, Path folder, String catalog)
      throws Exception {
    this.brokers = brokers;
    this.registry = registry;
    this.folder = folder;
    this.catalog = catalog;
    Configuration settings = new Configuration();
    settings.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.parse("512m"));
    settings.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.parse("512m"));
    settings.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.parse("256m"));
    settings.setString("rest.port", "0");
    settings.setString("rest.address", "127.0.0.1");
    settings.setString("rest.bind-address", "127.0.0.1");
    cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(settings)
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(MOST_JOBS)
                .build());
    cluster.start();
  }

  public static void main(String[] args) throws Exception {
    PrintStream answers = System.out;
    System.setOut(System.err);
    String catalog = args.length > 3 ? args[3] : "";
    DynamicSinkJobs all = new DynamicSinkJobs(args[0], args[1], Path.of(args[2]), catalog);
    BufferedReader questions = new BufferedReader(new InputStreamReader(System.in));
    for (String line = questions.readLine(); line != null; line = questions.readLine()) {
      JsonNode question = JSON.readTree(line);
      answers.println(
          JSON.writeValueAsString(
              all.answer(question.get("verb").asText(), question.get("change").asText())));
      answers.flush();
    }
    System.exit(0);
  }

  private String answer(String verb, String change) {
    try {
      return switch (verb) {
        case "start" -> start(change);
        case "trouble" -> describeTrouble(change);
        default -> whyEnded(change);
      };
    } catch (Exception error) {
      return error.toString();
    }
  }

  private String start(String change) throws Exception {
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(jobSettings(change));
    KafkaSource<byte[]> source =
        KafkaSource.<byte[]>builder()
            .setBootstrapServers(brokers)
            .setTopics(change)
            .setGroupId("flink-" + change)
            .setStartingOffsets(OffsetsInitializer.earliest())
            .setDeserializer(new Bytes())
            .build();
    DynamicIcebergSink.forInput(
            env.fromSource(source, WatermarkStrategy.noWatermarks(), change).uid("source"))
        .generator(new Generator(registry, change.replace('-', '_')))
        .catalogLoader(catalog())
        .writeParallelism(1)
        .uidPrefix("lake")
        .immediateTableUpdate(true)
        .append();
    JobGraph graph = env.getStreamGraph().getJobGraph();
    newestCheckpoint(change)
        .ifPresent(
            path ->
                graph.setSavepointRestoreSettings(
                    SavepointRestoreSettings.forPath(path.toString())));
    cluster.submitJob(graph).get();
    jobs.put(change, graph.getJobID());
    return "";
  }

  /** Returns the catalog that the properties name, or a folder. */
  private CatalogLoader catalog() throws IOException {
    var hadoop = new org.apache.hadoop.conf.Configuration();
    if (catalog.isEmpty()) {
      return CatalogLoader.hadoop(
          "lake", hadoop, Map.of("warehouse", folder.resolve("lake").toString()));
    }
    Map<String, String> properties = JSON.readValue(catalog, new TypeReference<>() {});
    return CatalogLoader.custom("lake", properties, hadoop, properties.get("catalog-impl"));
  }

  private Configuration jobSettings(String change) {
    Configuration settings = new Configuration();
    settings.setString("parallelism.default", "1");
    settings.setString("execution.checkpointing.interval", "5 s");
    settings.setString("execution.checkpointing.dir", checkpoints(change).toUri().toString());
    settings.setString(
        "execution.checkpointing.externalized-checkpoint-retention", "RETAIN_ON_CANCELLATION");
    return settings;
  }

  private Path checkpoints(String change) {
    return folder.resolve("checkpoints").resolve(change);
  }

  private Optional<Path> newestCheckpoint(String change) throws IOException {
    if (!Files.isDirectory(checkpoints(change))) {
      return Optional.empty();
    }
    try (Stream<Path> files = Files.walk(checkpoints(change))) {
      return files
          .filter(file -> file.getFileName().toString().equals("_metadata"))
          .max(Comparator.comparing(file -> file.toFile().lastModified()))
          .map(Path::getParent);
    }
  }

  private String whyEnded(String change) throws Exception {
    JobID job = jobs.get(change);
    if (job == null) {
      return "it was not started";
    }
    JobStatus status = cluster.getJobStatus(job).get();
    if (!status.isGloballyTerminalState()) {
      return "";
    }
    return cluster
        .requestJobResult(job)
        .get()
        .getSerializedThrowable()
        .map(DynamicSinkJobs::firstCause)
        .orElse(status.toString());
  }

  /** Returns the last error of a job that Flink started again by itself. */
  private String describeTrouble(String change) throws Exception {
    ErrorInfo failure = cluster.getExecutionGraph(jobs.get(change)).get().getFailureInfo();
    return failure == null ? "" : firstCause(failure.getException());
  }

  private static String firstCause(SerializedThrowable serialized) {
    Throwable error = serialized.deserializeError(DynamicSinkJobs.class.getClassLoader());
    while (error.getCause() != null) {
      error = error.getCause();
    }
    StackTraceElement[] trace = error.getStackTrace();
    boolean isClear = error.getMessage() != null || trace.length == 0;
    return isClear ? error.toString() : error + " at " + trace[0];
  }

  /** Keeps the bytes of a record's value. */
  private static final class Bytes implements KafkaRecordDeserializationSchema<byte[]> {
    @Override
    public void deserialize(ConsumerRecord<byte[], byte[]> record, Collector<byte[]> out) {
      if (record.value() != null) {
        out.collect(record.value());
      }
    }

    @Override
    public TypeInformation<byte[]> getProducedType() {
      return TypeInformation.of(byte[].class);
    }
  }

  /** Decodes a record with its writer's schema. */
  private static final class Generator implements DynamicRecordGenerator<byte[]> {
    private final String registry;
    private final String table;
    private transient Map<Long, Writer> writers;
    private transient HttpClient client;
    private transient BinaryDecoder decoder;

    private Generator(String registry, String table) {
      this.registry = registry;
      this.table = table;
    }

    @Override
    public void generate(byte[] value, Collector<DynamicRecord> out) throws Exception {
      ByteBuffer bytes = ByteBuffer.wrap(value);
      if (bytes.get() != 0) {
        throw new IOException("unknown magic byte");
      }
      Writer writer = find(bytes.getLong());
      decoder =
          DecoderFactory.get().binaryDecoder(value, bytes.position(), bytes.remaining(), decoder);
      RowData row = writer.mapper.map(writer.reader.read(null, decoder));
      out.collect(
          new DynamicRecord(
              TableIdentifier.of("proof", table),
              "main",
              writer.iceberg,
              row,
              PartitionSpec.unpartitioned(),
              DistributionMode.NONE,
              1));
    }

    private Writer find(long id) throws Exception {
      if (writers == null) {
        writers = new HashMap<>();
        client = HttpClient.newHttpClient();
      }
      Writer known = writers.get(id);
      if (known == null) {
        known = new Writer(new Schema.Parser().parse(ask(id)));
        writers.put(id, known);
      }
      return known;
    }

    private String ask(long id) throws Exception {
      URI uri = URI.create(registry + "/apis/registry/v2/ids/globalIds/" + id);
      HttpResponse<String> answer =
          client.send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofString());
      if (answer.statusCode() != 200) {
        throw new IOException("the registry answers " + answer.statusCode() + " for schema " + id);
      }
      return answer.body();
    }
  }

  /** A writer's schema in the forms that the sink needs. */
  private static final class Writer {
    private final GenericDatumReader<GenericRecord> reader;
    private final org.apache.iceberg.Schema iceberg;
    private final AvroGenericRecordToRowDataMapper mapper;

    private Writer(Schema avro) {
      this.reader = new GenericDatumReader<>(avro);
      this.iceberg = AvroSchemaUtil.toIceberg(avro);
      this.mapper = AvroGenericRecordToRowDataMapper.forAvroSchema(avro);
    }
  }
}
