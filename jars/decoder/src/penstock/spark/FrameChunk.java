package penstock.spark;

import java.io.Serializable;

/** Frames with the same schema key; its bytes are none for frames without a key. */
record FrameChunk(byte[] schema, RowBytes rows) implements Serializable {}
