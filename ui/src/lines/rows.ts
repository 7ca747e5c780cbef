/** Streams of an answer as rows of one list, in the order of time. */
import type { Labels, LogStream } from '../api/types.ts';
import { type Level, levelOf } from './level.ts';

export interface LogRow {
  /** Unlike that of every other row of the list. */
  readonly key: string;
  /** Unix nanoseconds. */
  readonly ns: string;
  /** Unix milliseconds, for showing. */
  readonly ms: number;
  readonly line: string;
  /** Of the stream; the same object for all its rows. */
  readonly stream: Labels;
  readonly metadata: Labels;
  readonly parsed: Labels;
  readonly level: Level;
}

const NOTHING: Labels = {};

/** Rows of equal time keep the order of the answer. */
export function rowsOf(streams: readonly LogStream[], newestFirst: boolean): readonly LogRow[] {
  const rows = streams.flatMap(({ stream, values }, s) =>
    values.map(([ns, line, categories], i) => {
      const metadata = categories?.structuredMetadata ?? NOTHING;
      const parsed = categories?.parsed ?? NOTHING;
      const level = levelOf(metadata.detected_level ?? parsed.level ?? stream.detected_level ?? stream.level);
      return {
        key: `${ns}/${s}/${i}`,
        ns,
        ms: Number(ns.slice(0, -6)),
        line,
        stream,
        metadata,
        parsed,
        level,
      };
    }),
  );
  const sign = newestFirst ? -1 : 1;
  return rows.sort((a, b) => sign * compareNs(a.ns, b.ns));
}

/** `page` begins at the time at which `rows` ends, so that none of that time is lost; what is in both is taken once. */
export function withPage(rows: readonly LogRow[], page: readonly LogRow[]): readonly LogRow[] {
  const last = rows.at(-1);
  if (last === undefined) return page;
  const known = new Set<string>();
  for (let i = rows.length - 1; i >= 0 && rows[i].ns === last.ns; i--) known.add(identityOf(rows[i]));
  const added = page.filter(row => row.ns !== last.ns || !known.has(identityOf(row)));
  // Keys count within an answer.
  return [...rows, ...added.map(row => ({ ...row, key: `${rows.length}/${row.key}` }))];
}

/** What makes an entry the same. */
function identityOf({ stream, line, metadata }: LogRow): string {
  return JSON.stringify([stream, line, metadata]);
}

function compareNs(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
