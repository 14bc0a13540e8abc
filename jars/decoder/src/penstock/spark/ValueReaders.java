package penstock.spark;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.catalyst.util.ArrayBasedMapData;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.Decimal;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Makes the reader of a plan, which tells how values of a writer's type become those of a column.
 *
 * <p>A plan is a list in JSON, with a kind first; penstock/spark/decoding/plans.py writes it:
 *
 * <pre>
 *   ["null"]
 *   ["boolean"], ["string"], ["bytes"], ["double"]
 *   ["float", TO]                     TO: float or double
 *   ["int", TO], ["long", TO]         TO: int, long, double, or millis, which become microseconds
 *   ["fixed", SIZE]
 *   ["enum", SYMBOL, ...]
 *   ["array", ITEM], ["map", VALUE]
 *   ["union", PLAN, ...]              the writer's branches
 *   ["member", AT, COUNT, PLAN]       a value that is one of several: a struct of so many members;
 *                                     AT -1 is left out
 *   ["record", [AT, PLAN], ...]       fields as they were written; AT -1 is left out
 * </pre>
 */
final class ValueReaders {
  private static final long LARGEST_IN_DOUBLE = 1L << 53;
  private static final long MICROS_PER_MILLI = 1_000;
  private static final int MAX_DECIMAL_BITS = 127; // of 38 digits, the most that Spark has

  private ValueReaders() {}

  static ValueReader of(JsonNode plan, DataType type) {
    String kind = plan.get(0).asText();
    return switch (kind) {
      case "null" -> payload -> null;
      case "boolean" -> Payload::readBoolean;
      case "string" -> Payload::readText;
      case "double" -> Payload::readDouble;
      case "float" -> ofFloat(plan.get(1).asText());
      case "int", "long" -> ofNumber(kind, plan.get(1).asText());
      case "bytes" -> ofBytes(Payload::readBytes, type);
      case "fixed" -> ofFixed(plan.get(1).asInt(), type);
      case "enum" -> ofEnum(plan);
      case "array" -> ofArray(of(plan.get(1), item(type)));
      case "map" -> ofMap(of(plan.get(1), value(type)));
      case "union" -> ofUnion(plan, type);
      case "member" -> ofMember(plan.get(1).asInt(), plan.get(2).asInt(), plan.get(3), type);
      case "record" -> ofRecord(plan, type);
      default -> throw new IllegalArgumentException("found the plan " + plan);
    };
  }

  private static ValueReader ofFloat(String to) {
    return to.equals("double")
        ? payload -> (double) payload.readFloat()
        : Payload::readFloat;
  }

  private static ValueReader ofNumber(String kind, String to) {
    boolean isInt = kind.equals("int");
    return switch (to) {
      case "int" -> Payload::readInt;
      case "long" -> isInt ? payload -> (long) payload.readInt() : Payload::readLong;
      case "double" -> isInt ? payload -> (double) payload.readInt() : ValueReaders::readAsDouble;
      case "millis" -> payload -> toMicros(isInt ? payload.readInt() : payload.readLong());
      default -> throw new IllegalArgumentException("found " + kind + " to " + to);
    };
  }

  private static Object readAsDouble(Payload payload) {
    long number = payload.readLong();
    if (number < -LARGEST_IN_DOUBLE || number > LARGEST_IN_DOUBLE) {
      payload.markLossy();
    }
    return (double) number;
  }

  private static long toMicros(long millis) {
    try {
      return Math.multiplyExact(millis, MICROS_PER_MILLI);
    } catch (ArithmeticException error) {
      throw PayloadException.undecodable();
    }
  }

  private static ValueReader ofFixed(int size, DataType type) {
    return ofBytes(payload -> payload.readFixed(size), type);
  }

  private static ValueReader ofBytes(ValueReader read, DataType type) {
    return type instanceof DecimalType decimal
        ? payload -> toDecimal((byte[]) read.read(payload), decimal)
        : read;
  }

  private static Decimal toDecimal(byte[] bytes, DecimalType type) {
    try {
      BigInteger unscaled = new BigInteger(bytes);
      // To count the digits of megabytes takes minutes.
      if (unscaled.bitLength() > MAX_DECIMAL_BITS) {
        throw PayloadException.undecodable();
      }
      BigDecimal value = new BigDecimal(unscaled, type.scale());
      return Decimal.apply(value, type.precision(), type.scale());
    } catch (ArithmeticException | NumberFormatException error) {
      throw PayloadException.undecodable();
    }
  }

  private static ValueReader ofEnum(JsonNode plan) {
    UTF8String[] symbols = new UTF8String[plan.size() - 1];
    for (int at = 0; at < symbols.length; at++) {
      symbols[at] = UTF8String.fromString(plan.get(at + 1).asText());
    }
    return payload -> symbols[payload.readIndex(symbols.length)];
  }

  private static ValueReader ofArray(ValueReader readItem) {
    return payload -> {
      List<Object> items = new ArrayList<>();
      payload.readBlocks(1, () -> items.add(readItem.read(payload)));
      return new GenericArrayData(items.toArray());
    };
  }

  /** The last value of a repeated key is used. */
  private static ValueReader ofMap(ValueReader readValue) {
    return payload -> {
      Map<Object, Object> entries = new LinkedHashMap<>();
      payload.readBlocks(2, () -> entries.put(payload.readText(), readValue.read(payload)));
      return new ArrayBasedMapData(
          new GenericArrayData(entries.keySet().toArray()),
          new GenericArrayData(entries.values().toArray()));
    };
  }

  private static ValueReader ofUnion(JsonNode plan, DataType type) {
    ValueReader[] branches = new ValueReader[plan.size() - 1];
    for (int at = 0; at < branches.length; at++) {
      branches[at] = of(plan.get(at + 1), type);
    }
    return payload -> branches[payload.readIndex(branches.length)].read(payload);
  }

  private static ValueReader ofMember(int at, int count, JsonNode plan, DataType type) {
    ValueReader read = of(plan, at < 0 ? null : field(type, at));
    return payload -> {
      Object[] members = payload.makeRow(count);
      Object member = read.read(payload);
      if (at >= 0) {
        members[at] = member;
      }
      return new GenericInternalRow(members);
    };
  }

  private static ValueReader ofRecord(JsonNode plan, DataType type) {
    int count = plan.size() - 1;
    int[] places = new int[count];
    ValueReader[] fields = new ValueReader[count];
    for (int at = 0; at < count; at++) {
      JsonNode field = plan.get(at + 1);
      places[at] = field.get(0).asInt();
      fields[at] = of(field.get(1), places[at] < 0 ? null : field(type, places[at]));
    }
    int width = type instanceof StructType struct ? struct.length() : 0;
    return payload -> {
      payload.spend(count);
      Object[] row = payload.makeRow(width);
      for (int at = 0; at < fields.length; at++) {
        Object value = fields[at].read(payload);
        if (places[at] >= 0) {
          row[places[at]] = value;
        }
      }
      return new GenericInternalRow(row);
    };
  }

  // What is left out has no type.
  private static DataType item(DataType type) {
    return type instanceof ArrayType array ? array.elementType() : null;
  }

  private static DataType value(DataType type) {
    return type instanceof MapType map ? map.valueType() : null;
  }

  private static DataType field(DataType type, int at) {
    return type instanceof StructType struct ? struct.fields()[at].dataType() : null;
  }
}
