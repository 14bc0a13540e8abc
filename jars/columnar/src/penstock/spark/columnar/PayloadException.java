package penstock.spark.columnar;

/** A payload that cannot be read, without a stack trace. */
final class PayloadException extends RuntimeException {
  private static final long serialVersionUID = 1;

  final transient Status status;

  PayloadException(Status status) {
    super(status.name(), null, false, false);
    this.status = status;
  }
}
