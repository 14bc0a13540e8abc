package penstock.spark;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.Serializable;
import java.lang.ref.SoftReference;
import java.nio.ByteBuffer;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.UUID;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.GenericInternalRow;
import org.apache.spark.sql.connector.catalog.functions.BoundFunction;
import org.apache.spark.sql.connector.catalog.functions.ScalarFunction;
import org.apache.spark.sql.connector.catalog.functions.UnboundFunction;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * Decodes the payload of a frame, by the schema version it was written with, into an event of all
 * versions.
 *
 * <p>SQL calls it with the key of the schema, the compression and the payload. It returns null for
 * a record without a key, and otherwise:
 *
 * <pre>
 *   status    decoded, unknown, undecodable, trailing-bytes, invalid-text or lossy-widening
 *   version   struct: number, id; null if the version is unknown
 *   event     null unless the status is decoded
 * </pre>
 *
 * <p>Its definition is made by penstock/spark/decoding/function.py. A version's plan is read when
 * its first record comes, so versions that are not in use cost nothing.
 */
public final class RecordDecoder implements UnboundFunction, ScalarFunction<InternalRow>, Serializable {
  private static final long serialVersionUID = 1;
  private static final ObjectMapper JSON = new ObjectMapper();

  private static final UTF8String ZLIB = UTF8String.fromString("zlib");
  private static final UTF8String DECODED = UTF8String.fromString("decoded");
  private static final InternalRow UNKNOWN =
      new GenericInternalRow(new Object[] {UTF8String.fromString("unknown"), null, null});

  private final String definition;
  private final String name;
  private transient volatile Versions versions;

  RecordDecoder(String definition) {
    this.definition = definition;
    this.name = "decoder_" + UUID.randomUUID().toString().replace("-", "");
    this.versions = new Versions(definition);
  }

  /** Decodes a payload; Spark finds this method by its name and its arguments. */
  public InternalRow invoke(byte[] schema, UTF8String compression, byte[] payload) {
    if (schema == null) {
      return null;
    }
    Version version = versions().find(schema);
    return version == null ? UNKNOWN : version.decode(compression, payload);
  }

  private Versions versions() {
    if (versions == null) {
      versions = Versions.shared(name, definition);
    }
    return versions;
  }

  @Override
  public BoundFunction bind(StructType input) {
    return this;
  }

  @Override
  public DataType[] inputTypes() {
    return new DataType[] {DataTypes.BinaryType, DataTypes.StringType, DataTypes.BinaryType};
  }

  @Override
  public DataType resultType() {
    return versions().result;
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
    return "decodes the records of " + versions().byKey.size() + " schema versions";
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof RecordDecoder decoder && name.equals(decoder.name);
  }

  @Override
  public int hashCode() {
    return name.hashCode();
  }

  @Override
  public String toString() {
    return name;
  }

  /** The versions of a definition, which the tasks of an executor share. */
  private static final class Versions {
    /** Each task has a function of its own, which Spark sends with it. */
    private static final Map<String, SoftReference<Versions>> SHARED = new HashMap<>();

    final Map<ByteBuffer, Version> byKey = new HashMap<>();
    final StructType result;

    Versions(String definition) {
      JsonNode root = parse(definition);
      DataType event = DataType.fromJson(root.get("event").asText());
      StructType version =
          new StructType().add("number", DataTypes.IntegerType).add("id", DataTypes.StringType);
      result =
          new StructType()
              .add("status", DataTypes.StringType)
              .add("version", version)
              .add("event", event);
      for (JsonNode each : root.get("versions")) {
        byte[] key = HexFormat.of().parseHex(each.get("key").asText());
        byKey.put(ByteBuffer.wrap(key), new Version(each, event));
      }
    }

    static Versions shared(String name, String definition) {
      synchronized (SHARED) {
        SoftReference<Versions> kept = SHARED.get(name);
        Versions found = kept == null ? null : kept.get();
        if (found == null) {
          found = new Versions(definition);
          SHARED.values().removeIf(each -> each.get() == null);
          SHARED.put(name, new SoftReference<>(found));
        }
        return found;
      }
    }

    Version find(byte[] key) {
      return byKey.get(ByteBuffer.wrap(key));
    }

    private static JsonNode parse(String definition) {
      try {
        return JSON.readTree(definition);
      } catch (JsonProcessingException error) {
        throw new IllegalArgumentException("found no definition of a decoder", error);
      }
    }
  }

  /** One schema version: how its payloads are read, and what its rows have in common. */
  private static final class Version {
    private final JsonNode plan;
    private final DataType event;
    private final InternalRow version;
    private final Map<Failure, InternalRow> failures = new EnumMap<>(Failure.class);
    private volatile ValueReader reader;

    Version(JsonNode definition, DataType event) {
      this.plan = definition.get("plan");
      this.event = event;
      UTF8String id = UTF8String.fromString(definition.get("id").asText());
      this.version = new GenericInternalRow(new Object[] {definition.get("number").asInt(), id});
      for (Failure each : Failure.values()) {
        failures.put(each, new GenericInternalRow(new Object[] {each.status, version, null}));
      }
    }

    InternalRow decode(UTF8String compression, byte[] payload) {
      try {
        boolean isCompressed = payload != null && ZLIB.equals(compression);
        Payload input = new Payload(isCompressed ? Zlib.inflate(payload) : payload);
        Object value = reader().read(input);
        input.checkEnd();
        return new GenericInternalRow(new Object[] {DECODED, version, value});
      } catch (PayloadException error) {
        return failures.get(error.failure);
      }
    }

    private ValueReader reader() {
      if (reader == null) {
        reader = ValueReaders.of(plan, event);
      }
      return reader;
    }
  }
}
