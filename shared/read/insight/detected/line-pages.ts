/**
 * Converts the lines of a response to pages, which the pipeline's parsers need. A page has one stream and no
 * structured metadata. Unlike in a query, a parsed name collides only with labels of the stream
 * (docs/dev/wire-format.md#response-of-detected-fields).
 */
import type { PageRows } from '../../../base/model/page.ts';
import type { LogEntry, LogStream } from '../../query/log-query.ts';
import { PAGE_ROWS, PARSED_PAGE_BYTES } from './bounds.ts';

export interface LinePage {
  readonly page: PageRows;
  /** Entry of each row. */
  readonly entries: readonly LogEntry[];
}

/** Yields all entries of a stream in their order. A page ends after the line that fills it. */
export function* linePages({ labels, text, entries }: LogStream): Generator<LinePage> {
  for (let from = 0; from < entries.length; ) {
    let to = from;
    let characters = 0;
    while (to < entries.length && to - from < PAGE_ROWS && characters < PARSED_PAGE_BYTES) {
      characters += entries[to++].line.length;
    }
    const part = entries.slice(from, to);
    const lineOffsets = new Uint32Array(part.length + 1);
    for (let row = 0; row < part.length; row++) {
      lineOffsets[row + 1] = lineOffsets[row] + Buffer.byteLength(part[row].line);
    }
    const lines = Buffer.allocUnsafe(lineOffsets[part.length]);
    for (let row = 0; row < part.length; row++) lines.write(part[row].line, lineOffsets[row]);
    const page: PageRows = {
      rows: part.length,
      // Parsers do not read times.
      baseNs: 0n,
      times: new Float64Array(part.length),
      lines,
      lineOffsets,
      runs: [{ stream: { labels, text }, firstRow: 0, rows: part.length }],
      metadata: [],
    };
    yield { page, entries: part };
    from = to;
  }
}
