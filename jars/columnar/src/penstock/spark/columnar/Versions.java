package penstock.spark.columnar;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.ByteBuffer;
import java.util.HexFormat;

/** The versions of a definition by the two halves of their id; a table with open addresses. */
final class Versions {
  private static final ObjectMapper JSON = new ObjectMapper();

  private final long[] highs;
  private final long[] lows;
  private final Version[] found;

  Versions(JsonNode root, int[] columns, int leftOut) {
    JsonNode versions = root.path("versions");
    int size = Math.max(16, Integer.highestOneBit(versions.size()) * 4);
    highs = new long[size];
    lows = new long[size];
    found = new Version[size];
    for (JsonNode each : versions) {
      ByteBuffer key = ByteBuffer.wrap(HexFormat.of().parseHex(each.get("key").asText()));
      long high = key.getLong();
      long low = key.getLong();
      int at = slot(high, low);
      highs[at] = high;
      lows[at] = low;
      found[at] = new Version(each, columns, leftOut);
    }
  }

  static JsonNode parse(String definition) {
    try {
      return JSON.readTree(definition);
    } catch (JsonProcessingException error) {
      throw new IllegalArgumentException("found no definition of a decoder", error);
    }
  }

  Version find(long high, long low) {
    return found[slot(high, low)];
  }

  private int slot(long high, long low) {
    long mixed = (high ^ low) * 0x9E3779B97F4A7C15L;
    int at = (int) (mixed >>> 32) & found.length - 1;
    while (found[at] != null && (highs[at] != high || lows[at] != low)) {
      at = at + 1 & found.length - 1;
    }
    return at;
  }
}
