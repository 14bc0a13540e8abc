package penstock.spark.columnar;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.charset.StandardCharsets;

/**
 * One schema version: its plan as a list of steps, one for each field that was written.
 *
 * <p>The prototype has texts, numbers and booleans, each of which may be null.
 */
final class Version {
  private static final long LARGEST_IN_DOUBLE = 1L << 53;
  private static final int TEXT = 0;
  private static final int LONG = 1;
  private static final int DOUBLE = 2;
  private static final int INT = 3;
  private static final int BOOLEAN = 4;
  private static final int FLOAT = 5;
  private static final int FLOAT_AS_DOUBLE = 6;
  private static final int INT_AS_DOUBLE = 7;
  private static final int LONG_AS_DOUBLE = 8;
  private static final int NULL = 9;

  final byte[] id;
  final int number;
  private final int values;
  private final int[] kinds;
  private final int[] nulls; // the branch that is null, or -1
  private final int[] places;

  /** @param columns the place of each column of the event in the vectors, of those left out too */
  Version(JsonNode definition, int[] columns, int leftOut) {
    id = definition.get("id").asText().getBytes(StandardCharsets.US_ASCII);
    number = definition.get("number").asInt();
    JsonNode plan = definition.get("plan");
    values = plan.get(1).asInt();
    int count = plan.size() - 2;
    kinds = new int[count];
    nulls = new int[count];
    places = new int[count];
    for (int at = 0; at < count; at++) {
      JsonNode field = plan.get(at + 2);
      int place = field.get(0).asInt();
      places[at] = place < 0 ? leftOut : columns[place];
      JsonNode type = field.get(1);
      nulls[at] = -1;
      if (type.get(0).asText().equals("union")) {
        boolean isFirst = type.get(1).get(0).asText().equals("null");
        if (type.size() != 3) {
          throw new IllegalArgumentException("found the plan " + type);
        }
        nulls[at] = isFirst ? 0 : 1;
        type = type.get(isFirst ? 2 : 1);
      }
      kinds[at] = kind(type);
    }
  }

  private static int kind(JsonNode type) {
    String to = type.path(1).asText();
    return switch (type.get(0).asText()) {
      case "null" -> NULL;
      case "string" -> TEXT;
      case "boolean" -> BOOLEAN;
      case "double" -> DOUBLE;
      case "float" -> to.equals("double") ? FLOAT_AS_DOUBLE : FLOAT;
      case "int" -> to.equals("double") ? INT_AS_DOUBLE : INT;
      case "long" -> to.equals("double") ? LONG_AS_DOUBLE : LONG;
      default -> throw new IllegalArgumentException("found the plan " + type);
    };
  }

  void decode(Payload in, long[][] bits, boolean[][] set, int row) {
    in.spend(values);
    for (int at = 0; at < kinds.length; at++) {
      int nullAt = nulls[at];
      if (nullAt >= 0 && in.readIndex(2) == nullAt) {
        continue;
      }
      long value;
      switch (kinds[at]) {
        case TEXT:
          value = in.readText();
          break;
        case LONG:
          value = in.readLong();
          break;
        case DOUBLE:
          value = in.readDoubleBits();
          break;
        case INT:
          value = in.readInt();
          break;
        case BOOLEAN:
          value = in.readBoolean();
          break;
        case FLOAT:
          value = in.readFloatBits();
          break;
        case FLOAT_AS_DOUBLE:
          value = Double.doubleToRawLongBits(Float.intBitsToFloat(in.readFloatBits()));
          break;
        case INT_AS_DOUBLE:
          value = Double.doubleToRawLongBits(in.readInt());
          break;
        case LONG_AS_DOUBLE:
          long number = in.readLong();
          if (number < -LARGEST_IN_DOUBLE || number > LARGEST_IN_DOUBLE) {
            in.markLossy();
          }
          value = Double.doubleToRawLongBits(number);
          break;
        default:
          continue;
      }
      int place = places[at];
      bits[place][row] = value;
      set[place][row] = true;
    }
    in.checkEnd();
  }
}
