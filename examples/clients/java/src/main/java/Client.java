import com.amazonaws.services.schemaregistry.deserializers.GlueSchemaRegistryKafkaDeserializer;
import com.amazonaws.services.schemaregistry.serializers.GlueSchemaRegistryKafkaSerializer;
import com.amazonaws.services.schemaregistry.utils.AWSSchemaRegistryConstants;
import com.amazonaws.services.schemaregistry.utils.AvroRecordType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericRecordBuilder;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.RecordDeserializationException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.glue.GlueClient;
import software.amazon.awssdk.services.glue.model.EntityNotFoundException;
import software.amazon.awssdk.services.glue.model.GetSchemaVersionResponse;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.auth.StsAssumeRoleCredentialsProvider;

/**
 * Reads records of a topic in a consumer's account with AWS's own deserialiser, or writes one with
 * its serialiser.
 *
 * <p>Usage: Client CLIENT.json TOPIC COUNT, or Client CLIENT.json TOPIC --write DEVICE. CLIENT.json
 * is one entry of the output `clients` of infra/consumer; the variable KAFKA_LOGIN is the content of
 * its secret, as ECS and EKS pass secrets to a container.
 */
public final class Client {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    JsonNode client = JSON.readTree(Files.readString(Path.of(args[0])));
    boolean writes = args[2].equals("--write");
    try {
      if (writes) {
        write(client, args[1], args[3]);
      } else {
        read(client, args[1], Integer.parseInt(args[2]));
      }
    } catch (Exception error) {
      if (!isRefusal(error)) {
        throw error;
      }
      System.err.printf(
          "%s is not granted: ask the producer's account to add it to the topics that this"
              + " consumer %s%n",
          args[1], writes ? "writes" : "reads");
      System.exit(1);
    }
  }

  private static void read(JsonNode client, String topic, int count) throws Exception {
    Map<String, Object> config = connect(client);
    config.put("group.id", client.get("group_prefix").asText() + "java");
    config.put("auto.offset.reset", "earliest");
    config.put("enable.auto.commit", false);
    config.put("max.poll.records", 1); // a commit is of what was printed
    var values = new GlueSchemaRegistryKafkaDeserializer(assumeRole(client), registry(client));
    try (var consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), values)) {
      consumer.subscribe(List.of(topic));
      while (count > 0) {
        try {
          for (var record : consumer.poll(Duration.ofSeconds(1))) {
            System.out.printf("%d/%d %s%n", record.partition(), record.offset(), record.value());
            count--;
          }
          consumer.commitSync();
        } catch (RecordDeserializationException error) { // without this it would stop here for ever
          if (isOutage(error)) {
            throw error; // another run reads the record again
          }
          System.out.printf("%d/%d unreadable%n", error.topicPartition().partition(), error.offset());
          consumer.seek(error.topicPartition(), error.offset() + 1);
          count--;
        }
      }
    }
  }

  private static void write(JsonNode client, String topic, String device) throws Exception {
    var newest = getNewestVersion(client, topic);
    // By its id: a definition that Avro writes in another way would not be found.
    var id = UUID.fromString(newest.schemaVersionId());
    var values = new GlueSchemaRegistryKafkaSerializer(assumeRole(client), id, registry(client));
    var schema = new Schema.Parser().parse(newest.schemaDefinition());
    var record =
        new GenericRecordBuilder(schema) // the other fields have defaults
            .set("deviceId", device)
            .set("timestamp", System.currentTimeMillis())
            .build();
    try (var producer = new KafkaProducer<>(connect(client), new ByteArraySerializer(), values)) {
      var written = producer.send(new ProducerRecord<>(topic, record)).get();
      System.out.printf("%d/%d%n", written.partition(), written.offset());
    }
  }

  private static GetSchemaVersionResponse getNewestVersion(JsonNode client, String topic) {
    var builder =
        GlueClient.builder()
            .region(region(client))
            .credentialsProvider(assumeRole(client))
            .httpClientBuilder(UrlConnectionHttpClient.builder());
    try (var glue = builder.build()) {
      var registry = client.at("/registry/name").asText();
      return glue.getSchemaVersion(
          each ->
              each.schemaId(schema -> schema.registryName(registry).schemaName(topic))
                  .schemaVersionNumber(number -> number.latestVersion(true)));
    }
  }

  private static Map<String, Object> registry(JsonNode client) {
    return Map.of(
        AWSSchemaRegistryConstants.AWS_REGION, client.get("region").asText(),
        AWSSchemaRegistryConstants.REGISTRY_NAME, client.at("/registry/name").asText(),
        AWSSchemaRegistryConstants.DATA_FORMAT, "AVRO",
        AWSSchemaRegistryConstants.AVRO_RECORD_TYPE, AvroRecordType.GENERIC_RECORD.getName(),
        AWSSchemaRegistryConstants.SCHEMA_AUTO_REGISTRATION_SETTING, "false");
  }

  private static StsAssumeRoleCredentialsProvider assumeRole(JsonNode client) {
    return StsAssumeRoleCredentialsProvider.builder()
        .stsClient(
            StsClient.builder()
                .region(region(client))
                .httpClientBuilder(UrlConnectionHttpClient.builder())
                .build())
        .refreshRequest(
            each ->
                each.roleArn(client.at("/registry/role_arn").asText())
                    .externalId(client.at("/registry/external_id").asText())
                    .roleSessionName("client"))
        .build();
  }

  private static Map<String, Object> connect(JsonNode client) throws Exception {
    JsonNode login = JSON.readTree(System.getenv("KAFKA_LOGIN"));
    Map<String, Object> config = new HashMap<>();
    config.put("bootstrap.servers", client.get("bootstrap_servers").asText());
    config.put("security.protocol", "SASL_SSL");
    config.put("sasl.mechanism", "SCRAM-SHA-512");
    config.put(
        "sasl.jaas.config",
        String.format(
            "org.apache.kafka.common.security.scram.ScramLoginModule required username=\"%s\" password=\"%s\";",
            login.get("username").asText(), login.get("password").asText()));
    return config;
  }

  private static Region region(JsonNode client) {
    return Region.of(client.get("region").asText());
  }

  /** Whether the registry could not be asked; it answers that it does not have a version. */
  private static boolean isOutage(Throwable error) {
    return error != null
        && !(error instanceof EntityNotFoundException)
        && (error instanceof SdkException || isOutage(error.getCause()));
  }

  private static boolean isRefusal(Throwable error) {
    return error instanceof AuthorizationException
        || (error.getCause() != null && isRefusal(error.getCause()));
  }
}
