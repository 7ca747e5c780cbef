/** Chunks with changed footers and right checksums. */
import { crc32 } from 'node:zlib';
import { encodeFooter } from '../../shared/storage/chunk/footer-codec.ts';
import { type Footer, MAGIC, TRAILER_BYTES } from '../../shared/storage/chunk/format.ts';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import { withDecodedColumns } from '../../shared/storage/chunk/stored-page.ts';
import { ByteReader, ByteWriter } from '../../shared/storage/codec/byte-io.ts';
import { loadBlock } from '../../shared/storage/codec/compression.ts';

/** The object with another footer. */
export function withFooter(object: Buffer, change: (footer: Footer) => Partial<Footer>): Buffer {
  const { pages, counts, ...footer } = footerOf(object, 'a chunk');
  const length = object.readUInt32LE(object.length - TRAILER_BYTES);
  const plain = {
    ...footer,
    pages: pages.map(withDecodedColumns),
    counts: structuredClone([...counts]) as unknown as Footer['counts'],
  };
  const changed = { ...plain, ...change(plain) };
  return Buffer.concat([object.subarray(0, object.length - TRAILER_BYTES - length), encodeFooter(changed)]);
}

/** The object with one byte of its footer changed, and right checksums. */
export function withFooterByte(object: Buffer, at: number, value: number): Buffer {
  const length = object.readUInt32LE(object.length - TRAILER_BYTES);
  const start = object.length - TRAILER_BYTES - length;
  const head = new ByteReader(object.subarray(start, start + length));
  const [version, codec, rawBytes] = [head.byte(), head.byte(), head.varint()];
  const stored = head.bytes(length - head.position - 4);
  const block = { offset: 0, storedBytes: stored.length, rawBytes, codec, crc: crc32(stored) };
  const body = Buffer.from(loadBlock(stored, block, 'a footer'));
  body[at % body.length] = value;
  const out = new ByteWriter(body.length + 32);
  out.byte(version);
  out.byte(0);
  out.varint(body.length);
  out.bytes(body);
  out.u32(crc32(out.view()));
  out.u32(out.length);
  out.bytes(MAGIC);
  return Buffer.concat([object.subarray(0, start), out.finish()]);
}
