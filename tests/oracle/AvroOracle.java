import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericEnumSymbol;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.BinaryDecoder;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/**
 * Answers questions about Avro, one JSON object a line in and out.
 *
 * <p>Values travel tagged, so that a number's type is not lost: {"i": 5} for int and long, {"f": hex
 * of the 64 bits} for float and double, {"s": text} for string and enum, {"b": hex} for bytes and
 * fixed, {"m": {..}} for map and record; null, booleans and lists as they are.
 */
public final class AvroOracle {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final HexFormat HEX = HexFormat.of();

  public static void main(String[] args) throws Exception {
    var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    var out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
    }
  }

  private static ObjectNode answer(JsonNode question) {
    ObjectNode answer = JSON.createObjectNode();
    try {
      switch (question.get("op").asText()) {
        case "compare" -> compare(question, answer);
        case "encode" -> encode(question, answer);
        case "decode" -> decode(question, answer);
        default -> throw new IllegalArgumentException("unknown op");
      }
    } catch (Exception | StackOverflowError error) {
      answer.removeAll();
      answer.put("error", error.toString());
    }
    return answer;
  }

  private static Schema schema(JsonNode question, String key) {
    return new Schema.Parser().parse(question.get(key).toString());
  }

  private static void compare(JsonNode question, ObjectNode answer) {
    Schema reader = schema(question, "reader");
    Schema writer = schema(question, "writer");
    ArrayNode kinds = answer.putArray("kinds");
    SchemaCompatibility.checkReaderWriterCompatibility(reader, writer)
        .getResult()
        .getIncompatibilities()
        .forEach(each -> kinds.add(each.getType().name()));
  }

  private static void encode(JsonNode question, ObjectNode answer) throws Exception {
    Schema schema = schema(question, "schema");
    var bytes = new ByteArrayOutputStream();
    BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(bytes, null);
    new GenericDatumWriter<Object>(schema).write(read(question.get("value"), schema), encoder);
    encoder.flush();
    answer.put("payload", HEX.formatHex(bytes.toByteArray()));
  }

  private static void decode(JsonNode question, ObjectNode answer) throws Exception {
    byte[] payload = HEX.parseHex(question.get("payload").asText());
    BinaryDecoder decoder = DecoderFactory.get().binaryDecoder(payload, null);
    var reader = new GenericDatumReader<>(schema(question, "writer"), schema(question, "reader"));
    answer.set("value", write(reader.read(null, decoder)));
    answer.put("complete", decoder.isEnd());
  }

  private static JsonNode write(Object value) {
    if (value instanceof IndexedRecord record) {
      Map<String, Object> fields = new LinkedHashMap<>();
      for (Schema.Field field : record.getSchema().getFields()) {
        fields.put(field.name(), record.get(field.pos()));
      }
      return write(fields);
    }
    if (value instanceof Map<?, ?> map) {
      ObjectNode members = JSON.createObjectNode();
      map.forEach((key, member) -> members.set(key.toString(), write(member)));
      return JSON.createObjectNode().set("m", members);
    }
    if (value instanceof List<?> list) {
      ArrayNode items = JSON.createArrayNode();
      list.forEach(item -> items.add(write(item)));
      return items;
    }
    if (value instanceof Integer || value instanceof Long) {
      return JSON.createObjectNode().put("i", ((Number) value).longValue());
    }
    if (value instanceof Number number) {
      long bits = Double.doubleToLongBits(number.doubleValue());
      return JSON.createObjectNode().put("f", HEX.toHexDigits(bits));
    }
    if (value instanceof CharSequence || value instanceof GenericEnumSymbol) {
      return JSON.createObjectNode().put("s", value.toString());
    }
    if (value instanceof ByteBuffer buffer) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      return JSON.createObjectNode().put("b", HEX.formatHex(bytes));
    }
    if (value instanceof GenericFixed fixed) {
      return JSON.createObjectNode().put("b", HEX.formatHex(fixed.bytes()));
    }
    return JSON.valueToTree(value); // null or a boolean
  }

  private static Object read(JsonNode value, Schema schema) {
    return switch (schema.getType()) {
      case NULL -> null;
      case BOOLEAN -> value.asBoolean();
      case INT -> value.get("i").intValue();
      case LONG -> value.get("i").longValue();
      case FLOAT -> (float) readDouble(value);
      case DOUBLE -> readDouble(value);
      case STRING -> value.get("s").asText();
      case ENUM -> new GenericData.EnumSymbol(schema, value.get("s").asText());
      case BYTES -> ByteBuffer.wrap(HEX.parseHex(value.get("b").asText()));
      case FIXED -> new GenericData.Fixed(schema, HEX.parseHex(value.get("b").asText()));
      case ARRAY -> readArray(value, schema);
      case MAP -> readMap(value.get("m"), schema);
      case RECORD -> readRecord(value.get("m"), schema);
      case UNION -> readUnion(value, schema);
    };
  }

  private static double readDouble(JsonNode value) {
    return Double.longBitsToDouble(HexFormat.fromHexDigitsToLong(value.get("f").asText()));
  }

  private static List<Object> readArray(JsonNode value, Schema schema) {
    List<Object> items = new ArrayList<>();
    value.forEach(item -> items.add(read(item, schema.getElementType())));
    return items;
  }

  private static Map<String, Object> readMap(JsonNode members, Schema schema) {
    Map<String, Object> map = new LinkedHashMap<>();
    members.properties().forEach(
        each -> map.put(each.getKey(), read(each.getValue(), schema.getValueType())));
    return map;
  }

  private static GenericData.Record readRecord(JsonNode members, Schema schema) {
    var record = new GenericData.Record(schema);
    for (Schema.Field field : schema.getFields()) {
      record.put(field.name(), read(members.get(field.name()), field.schema()));
    }
    return record;
  }

  /** Takes the first branch that the tags fit: the branches tried here are of different kinds. */
  private static Object readUnion(JsonNode value, Schema schema) {
    for (Schema branch : schema.getTypes()) {
      try {
        Object read = read(value, branch);
        if (GenericData.get().validate(branch, read) && write(read).toString().equals(value.toString())) {
          return read;
        }
      } catch (NullPointerException | IllegalArgumentException mismatch) {
        continue; // the tag is another branch's
      }
    }
    throw new IllegalArgumentException("no branch of " + schema + " takes " + value);
  }
}
