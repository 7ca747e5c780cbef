/**
 * Estimates the memory of a decoded footer in bytes, so that a cache of footers respects its limit. Object
 * sizes are those of V8, measured over 488 chunks of pushes and one that they were merged into. Footers share
 * streams, which count as references.
 */
import type { Footer } from '../../storage/chunk/format.ts';
import { StoredCounts } from '../../storage/chunk/stored-counts.ts';

const FOOTER_BYTES = 1000;
const STREAM_BYTES = 8;
const INPUT_BYTES = 60;
const PAGE_BYTES = 200;
const RUN_BYTES = 96;
const COLUMN_BYTES = 170;
/** Bytes of a string in addition to its characters. */
const VALUE_BYTES = 32;

export function heldBytes({ streams, pages, inputs, counts }: Footer): number {
  let bytes = FOOTER_BYTES + STREAM_BYTES * streams.length + INPUT_BYTES * inputs.length;
  if (counts instanceof StoredCounts) bytes += counts.heldBytes;
  for (const { runs, columns } of pages) {
    bytes += PAGE_BYTES + RUN_BYTES * runs.length + COLUMN_BYTES * columns.length;
    for (const { dictionary = [] } of columns) {
      for (const value of dictionary) bytes += VALUE_BYTES + value.length;
    }
  }
  return bytes;
}
