/**
 * Checks that the parts of a footer agree. A copied page is not decoded, so what the footer says of it gets into the
 * output.
 */
import { compareUtf8 } from '../../base/model/bytes.ts';
import { CorruptionError } from '../../base/model/errors.ts';
import type { Stream } from '../../base/model/page.ts';
import type { MergeInput } from './merge-reader.ts';

/** Rows, bytes of lines and of metadata: of each stream, then of the chunk. */
const FIELDS = 3;

/**
 * Throws CorruptionError if the counts of a stream do not add up to its runs, the runs of a page or all runs to its bytes
 * or those of the chunk, or streams do not ascend.
 */
export function checkSums({ counts = [], footer }: MergeInput): void {
  const { tenant, id, streams, pages } = footer;
  const what = `chunk ${tenant}/${id}`;
  if (!ascend(streams)) throw new CorruptionError(`${what}: streams do not ascend`);
  const left = new Float64Array(FIELDS * (streams.length + 1));
  const ofChunk = FIELDS * streams.length;
  addTo(left, ofChunk, footer.rows, footer.lineBytes, footer.metadataBytes);
  for (const { runs, lineBytes } of pages) {
    let bytes = 0;
    let before = -1;
    for (const run of runs) {
      addTo(left, FIELDS * run.stream, run.rows, run.lineBytes, run.metadataBytes);
      addTo(left, ofChunk, -run.rows, -run.lineBytes, -run.metadataBytes);
      bytes += run.lineBytes;
      if (run.stream <= before) throw new CorruptionError(`${what}: streams of a page do not ascend`);
      before = run.stream;
    }
    if (bytes !== lineBytes) throw new CorruptionError(`${what}: runs of a page have other bytes`);
  }
  let stream = 0;
  for (const ofStream of counts) {
    for (const { entries, lineBytes, metadataBytes } of ofStream) {
      for (let i = 0; i < entries.length; i++) {
        addTo(left, FIELDS * stream, -entries[i], -lineBytes[i], -metadataBytes[i]);
      }
    }
    stream++;
  }
  if (left.some(sum => sum !== 0)) throw new CorruptionError(`${what}: counts are not those of its runs`);
}

function ascend(streams: readonly Stream[]): boolean {
  return streams.every(({ text }, i) => i === 0 || compareUtf8(streams[i - 1].text, text) < 0);
}

function addTo(sums: Float64Array, at: number, rows: number, lineBytes: number, metadataBytes: number): void {
  sums[at] += rows;
  sums[at + 1] += lineBytes;
  sums[at + 2] += metadataBytes;
}
