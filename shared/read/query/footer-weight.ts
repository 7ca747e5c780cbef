/**
 * Estimates the memory of a decoded footer in bytes, so that a cache of footers respects its limit. Object
 * sizes are those of V8, measured over 400 chunks of pushes and 7 that such chunks were merged into. Footers
 * share streams, which count as references.
 */
import type { Footer } from '../../storage/chunk/format.ts';
import { StoredCounts } from '../../storage/chunk/stored-counts.ts';
import { metadataOf, StoredPage } from '../../storage/chunk/stored-page.ts';

const FOOTER_BYTES = 1400;
const STREAM_BYTES = 8;
const INPUT_BYTES = 60;
const PAGE_BYTES = 300;
const RUN_BYTES = 120;
/** Column of metadata, without the values in its dictionary. */
const METADATA_BYTES = 250;
/** Bytes of a string in addition to its characters. */
const VALUE_BYTES = 32;

export function heldBytes({ streams, pages, inputs, counts }: Footer): number {
  let bytes = FOOTER_BYTES + STREAM_BYTES * streams.length + INPUT_BYTES * inputs.length;
  if (counts instanceof StoredCounts) bytes += counts.heldBytes;
  for (const page of pages) {
    const metadata = metadataOf(page);
    bytes += PAGE_BYTES + RUN_BYTES * page.runs.length + METADATA_BYTES * metadata.length;
    if (page instanceof StoredPage) bytes += page.columnBytes;
    for (const { dictionary = [] } of metadata) {
      for (const value of dictionary) bytes += VALUE_BYTES + value.length;
    }
  }
  return bytes;
}
