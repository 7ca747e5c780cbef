/** Parts of a footer that several of its parts have. */
import type { ByteReader, ByteWriter } from '../codec/byte-io.ts';
import type { BlockHandle } from '../codec/compression.ts';

/** Reads a number of items and the items, of at least `minBytes` each. Throws CorruptionError. */
export function readList<T>(reader: ByteReader, minBytes: number, read: () => T): T[] {
  const count = reader.count(minBytes);
  const out: T[] = [];
  for (let i = 0; i < count; i++) out.push(read());
  // V8 reserves 17 elements for an array with one. Footers are cached, and most of their lists are short.
  return out.slice();
}

export function writeHandle(out: ByteWriter, block: BlockHandle): void {
  out.varint(block.offset);
  out.varint(block.storedBytes);
  out.varint(block.rawBytes);
  out.byte(block.codec);
  out.u32(block.crc);
}

/** Throws CorruptionError. */
export function readHandle(reader: ByteReader): BlockHandle {
  return {
    offset: reader.varint(),
    storedBytes: reader.varint(),
    rawBytes: reader.varint(),
    codec: reader.byte(),
    crc: reader.u32(),
  };
}
