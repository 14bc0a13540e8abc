import com.amazonaws.services.schemaregistry.deserializers.GlueSchemaRegistryKafkaDeserializer;
import com.amazonaws.services.schemaregistry.serializers.GlueSchemaRegistryKafkaSerializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;

/**
 * AWS's own serialiser, asked by one JSON object a line: {"op": "serialize", "topic", "schema",
 * "value", "config"} with the value in Avro's JSON encoding, or {"op": "deserialize", "topic",
 * "payload", "config"}; `config` is what a Kafka client would be configured with.
 */
public final class GlueSerde {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HexFormat HEX = HexFormat.of();

  public static void main(String[] args) throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.setOut(System.err); // what libraries print is no answer
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
    }
  }

  private static ObjectNode answer(JsonNode question) {
    ObjectNode answer = JSON.createObjectNode();
    try {
      switch (question.get("op").asText()) {
        case "serialize" -> serialize(question, answer);
        case "deserialize" -> deserialize(question, answer);
        default -> throw new IllegalArgumentException("unknown op");
      }
    } catch (Exception error) {
      answer.removeAll();
      answer.put("error", describe(error));
    }
    return answer;
  }

  private static void serialize(JsonNode question, ObjectNode answer) throws Exception {
    var schema = new Schema.Parser().parse(question.get("schema").asText());
    var decoder = DecoderFactory.get().jsonDecoder(schema, question.get("value").toString());
    GenericRecord record = new GenericDatumReader<GenericRecord>(schema).read(null, decoder);
    var serializer =
        new GlueSchemaRegistryKafkaSerializer(DefaultCredentialsProvider.builder().build(), config(question));
    byte[] payload = serializer.serialize(question.get("topic").asText(), record);
    answer.put("payload", HEX.formatHex(payload));
  }

  private static void deserialize(JsonNode question, ObjectNode answer) throws Exception {
    byte[] payload = HEX.parseHex(question.get("payload").asText());
    var deserializer =
        new GlueSchemaRegistryKafkaDeserializer(
            DefaultCredentialsProvider.builder().build(), config(question));
    var record = (GenericRecord) deserializer.deserialize(question.get("topic").asText(), payload);
    answer.set("value", JSON.readTree(record.toString()));
  }

  private static Map<String, Object> config(JsonNode question) {
    Map<String, Object> config = new HashMap<>();
    question
        .get("config")
        .fields()
        .forEachRemaining(
            each ->
                config.put(
                    each.getKey(),
                    each.getValue().isBoolean()
                        ? (Object) each.getValue().asBoolean()
                        : each.getValue().asText()));
    return config;
  }

  private static String describe(Throwable error) {
    var text = new StringBuilder();
    for (Throwable each = error; each != null; each = each.getCause()) {
      text.append(each).append("; ");
    }
    return text.toString();
  }
}
