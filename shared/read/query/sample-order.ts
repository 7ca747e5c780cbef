/** Orders samples of equal timestamps like entries (entry-order.ts), as numbers that partial results can hold. */
import type { PageRows } from '../../base/model/page.ts';
import type { SampleOrder } from '../../base/model/samples.ts';
import { streamHash } from '../../base/model/stream-hash.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import type { PageMeta } from '../../storage/chunk/format.ts';

/** Hexadecimal digits of an ID that one number holds exactly. */
const DIGITS = 13;
/** Bits of a hash that a number does not hold exactly. */
const LOST_BITS = 11n;

export function sampleOrder(
  { runs }: PageRows,
  { origin }: Pick<ChunkRecord, 'origin'>,
  { offset }: Pick<PageMeta, 'offset'>,
): SampleOrder {
  let at = 0;
  return {
    chunk: [numberOf(origin, 0), numberOf(origin, DIGITS)],
    page: offset,
    streamOf(row) {
      if (row < runs[at].firstRow) at = 0;
      while (row >= runs[at].firstRow + runs[at].rows) at++;
      return Number(streamHash(runs[at].stream.labels) >> LOST_BITS);
    },
  };
}

function numberOf(id: string, from: number): number {
  return Number.parseInt(id.slice(from, from + DIGITS), 16);
}
