/** Sorted rows to a whole chunk object. */
import { compareUtf8 } from '../model/bytes.ts';
import { invariant } from '../model/errors.ts';
import type { Compression } from './compression.ts';
import { countRows } from './counts.ts';
import { encodeFooter } from './footer-codec.ts';
import { FORMAT_VERSION, type Footer, type PageMeta } from './format.ts';
import { cutPages, packPage } from './page-writer.ts';
import type { ChunkRows } from './rows.ts';

/** Pages compressed side by side; as many as the thread pool has threads. Each holds up to 1 MiB of lines meanwhile. */
const PAGES_AT_ONCE = 4;

export interface ChunkHead {
  /** 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  readonly day: number;
  readonly level: number;
  readonly createdMs: number;
  readonly inputs: readonly string[];
}

export interface WrittenChunk {
  readonly footer: Footer;
  /** The object's bytes, in order. */
  readonly parts: readonly Uint8Array[];
  readonly bytes: number;
  /** Bytes of footer and trailer, the last part. */
  readonly footerBytes: number;
}

/** Packs rows into an object. `compression` holds zstd parameters for the large blocks. */
export async function writeChunk(
  head: ChunkHead,
  input: ChunkRows,
  compression: Compression,
): Promise<WrittenChunk> {
  checkOrder(input);
  const cuts = cutPages(input);
  const parts: Uint8Array[] = [];
  const pages: PageMeta[] = [];
  let offset = 0;
  for (let i = 0; i + 1 < cuts.length; i += PAGES_AT_ONCE) {
    const some = cuts.slice(i, i + PAGES_AT_ONCE + 1);
    const packed = some.slice(1).map((to, j) => packPage(input, some[j], to, compression));
    for (const page of await Promise.all(packed)) {
      pages.push({ ...page.meta, offset });
      parts.push(...page.blocks);
      offset += page.meta.storedBytes;
    }
  }
  const { levels, counts, metadataBytes } = countRows(input);
  let first = Infinity;
  let last = 0;
  let lineBytes = 0;
  for (const page of pages) {
    lineBytes += page.lineBytes;
    for (const run of page.runs) {
      if (run.first < first) first = run.first;
      if (run.last > last) last = run.last;
    }
  }
  const footer: Footer = {
    version: FORMAT_VERSION,
    ...head,
    rows: input.rows,
    lineBytes,
    metadataBytes,
    first,
    last,
    streams: input.streams,
    pages,
    levels,
    counts,
    sections: [],
  };
  const tail = encodeFooter(footer);
  parts.push(tail);
  return { footer, parts, bytes: offset + tail.length, footerBytes: tail.length };
}

function checkOrder(input: ChunkRows): void {
  const { rows, streams, streamOf, times } = input;
  invariant(rows > 0, 'a chunk has at least one row');
  for (let i = 1; i < streams.length; i++) {
    invariant(compareUtf8(streams[i - 1].text, streams[i].text) < 0, 'streams of a chunk ascend by text');
  }
  for (let row = 1; row < rows; row++) {
    const sameStream = streamOf[row] === streamOf[row - 1];
    invariant(
      sameStream ? times[row] >= times[row - 1] : streamOf[row] > streamOf[row - 1],
      'rows of a chunk ascend by stream and time',
    );
  }
}
