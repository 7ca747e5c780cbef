/** Work of a request: decompress a snappy block and hash its contents. */
import { crc32 } from 'node:zlib';
import { atOnce } from '../../shared/base/model/steps.ts';
import { releaseUncompressed, uncompressSnappy } from '../../shared/write/ingest/snappy.ts';

const MAX_BYTES = 10_000_000;

export function work(body: Uint8Array): number {
  const bytes = atOnce(uncompressSnappy(body, MAX_BYTES));
  const sum = crc32(bytes);
  releaseUncompressed(bytes);
  return sum;
}
