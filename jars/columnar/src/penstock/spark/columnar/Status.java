package penstock.spark.columnar;

import java.nio.charset.StandardCharsets;

/** What became of a record. */
enum Status {
  DECODED("decoded"),
  UNKNOWN("unknown"),
  TOMBSTONE("tombstone"),
  TRUNCATED("truncated"),
  UNKNOWN_FRAMING("unknown-framing"),
  UNDECODABLE("undecodable"),
  TRAILING_BYTES("trailing-bytes"),
  INVALID_TEXT("invalid-text"),
  LOSSY_WIDENING("lossy-widening");

  final byte[] text;

  Status(String text) {
    this.text = text.getBytes(StandardCharsets.US_ASCII);
  }
}
