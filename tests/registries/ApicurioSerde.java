import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.apicurio.registry.serde.avro.AvroKafkaDeserializer;
import io.apicurio.registry.serde.avro.AvroKafkaSerializer;
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
import org.apache.kafka.common.header.internals.RecordHeaders;

/**
 * Apicurio's own serialiser, asked by one JSON object a line: {"op": "serialize", "topic", "schema",
 * "value", "config"} with the value in Avro's JSON encoding, or {"op": "deserialize", "topic",
 * "payload", "headers", "config"}; `config` is what a Kafka client would be configured with.
 */
public final class ApicurioSerde {
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
      if (question.get("op").asText().equals("serialize")) {
        serialize(question, answer);
      } else {
        deserialize(question, answer);
      }
    } catch (Exception error) {
      answer.removeAll();
      var text = new StringBuilder();
      for (Throwable each = error; each != null; each = each.getCause()) {
        text.append(each).append("; ");
      }
      answer.put("error", text.toString());
    }
    return answer;
  }

  private static void serialize(JsonNode question, ObjectNode answer) throws Exception {
    var schema = new Schema.Parser().parse(question.get("schema").asText());
    var decoder = DecoderFactory.get().jsonDecoder(schema, question.get("value").toString());
    GenericRecord record = new GenericDatumReader<GenericRecord>(schema).read(null, decoder);
    var headers = new RecordHeaders();
    try (var serializer = new AvroKafkaSerializer<GenericRecord>()) {
      serializer.configure(config(question), false);
      var topic = question.get("topic").asText();
      answer.put("payload", HEX.formatHex(serializer.serialize(topic, headers, record)));
    }
    var shown = answer.putObject("headers");
    headers.forEach(each -> shown.put(each.key(), HEX.formatHex(each.value())));
  }

  private static void deserialize(JsonNode question, ObjectNode answer) throws Exception {
    var headers = new RecordHeaders();
    question
        .get("headers")
        .fields()
        .forEachRemaining(
            each -> headers.add(each.getKey(), HEX.parseHex(each.getValue().asText())));
    byte[] payload = HEX.parseHex(question.get("payload").asText());
    try (var deserializer = new AvroKafkaDeserializer<GenericRecord>()) {
      deserializer.configure(config(question), false);
      var record = deserializer.deserialize(question.get("topic").asText(), headers, payload);
      answer.set("value", JSON.readTree(record.toString()));
    }
  }

  private static Map<String, Object> config(JsonNode question) {
    Map<String, Object> config = new HashMap<>();
    question
        .get("config")
        .fields()
        .forEachRemaining(each -> config.put(each.getKey(), each.getValue().asText()));
    return config;
  }
}
