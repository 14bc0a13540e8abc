package penstock.spark;

import org.apache.spark.unsafe.types.UTF8String;

/** Why a record is no row; the statuses are those of penstock.errors.Reason. */
enum Failure {
  UNDECODABLE("undecodable"),
  TRAILING_BYTES("trailing-bytes"),
  INVALID_TEXT("invalid-text"),
  LOSSY_WIDENING("lossy-widening"),
  OVERSIZE("oversize");

  final UTF8String status;

  Failure(String status) {
    this.status = UTF8String.fromString(status);
  }
}
