/** Header `X-Loki-Backfill-Shard` of a push (docs/dev/wire-format.md#backfill): accepts entries of any age. */
import { BadRequestError } from '../../base/model/errors.ts';
import { quote } from '../../base/model/quote.ts';
import type { HttpRequest } from './message.ts';

const HEADER = 'x-loki-backfill-shard';
const SHOWN_HEADER = 'X-Loki-Backfill-Shard';
/** Limits the value, which becomes a label value of each stream. */
const MAX_SHARD_BYTES = 128;

/** Value of the header; `undefined` if it is absent or empty. Throws BadRequestError. */
export function backfillShard(headers: HttpRequest['headers']): string | undefined {
  // Header values arrive as one character per byte.
  const bytes = Buffer.from(headers[HEADER] ?? '', 'latin1');
  if (bytes.length === 0) return undefined;
  if (bytes.length > MAX_SHARD_BYTES) {
    throw new BadRequestError(
      `invalid ${SHOWN_HEADER} header: value length ${bytes.length} exceeds limit of ${MAX_SHARD_BYTES}`,
    );
  }
  const shard = bytes.toString('utf8');
  if (!Buffer.from(shard).equals(bytes)) {
    throw new BadRequestError(`invalid ${SHOWN_HEADER} header ${quote(shard)}: must be a valid label value`);
  }
  return shard;
}
