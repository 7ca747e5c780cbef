/** The work of a request: unpack a snappy block, hash what was in it. */
import { crc32 } from 'node:zlib';
import { releaseUncompressed, uncompressSnappy } from '../../shared/ingest/snappy.ts';
import { atOnce } from '../../shared/model/steps.ts';

const MAX_BYTES = 10_000_000;

export function work(body: Uint8Array): number {
  const bytes = atOnce(uncompressSnappy(body, MAX_BYTES));
  const sum = crc32(bytes);
  releaseUncompressed(bytes);
  return sum;
}
