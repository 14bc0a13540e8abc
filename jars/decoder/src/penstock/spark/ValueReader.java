package penstock.spark;

/** Reads one value of a writer's type, as Spark holds it in a row. */
@FunctionalInterface
interface ValueReader {
  Object read(Payload payload);
}
