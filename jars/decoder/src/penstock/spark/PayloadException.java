package penstock.spark;

/** A payload that cannot be read. It has no stack trace, since a topic may have many of them. */
final class PayloadException extends RuntimeException {
  private static final long serialVersionUID = 1;

  final Failure failure;

  PayloadException(Failure failure) {
    super(failure.name(), null, false, false);
    this.failure = failure;
  }

  static PayloadException undecodable() {
    return new PayloadException(Failure.UNDECODABLE);
  }
}
