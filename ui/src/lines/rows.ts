/** Streams of a response as rows of one list, in time order. */
import type { Labels, LogStream } from '../api/types.ts';
import { type Level, levelOf } from './level.ts';

export interface LogRow {
  /** Unique key in the list. */
  readonly key: string;
  /** Unix nanoseconds. */
  readonly ns: string;
  /** Unix milliseconds, for display. */
  readonly ms: number;
  readonly line: string;
  /** Labels of the stream; all its rows share the object. */
  readonly stream: Labels;
  readonly metadata: Labels;
  readonly parsed: Labels;
  readonly level: Level;
}

const NOTHING: Labels = {};

/**
 * Rows of a response. Rows with equal timestamps keep its order. @param newestFirst direction of the response
 */
export function logRowsOf(streams: readonly LogStream[], newestFirst: boolean): readonly LogRow[] {
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

/**
 * Adds the next page, which starts again at the timestamp of the last row, because more entries may have it.
 * Equal entries are counted instead of deduplicated, because a query can drop what distinguishes them.
 */
export function withPage(rows: readonly LogRow[], page: readonly LogRow[]): readonly LogRow[] {
  const last = rows.at(-1);
  if (last === undefined) return page;
  const known = new Map<string, number>();
  for (const row of rows.slice(-lastOfOneTime(rows))) {
    const identity = rowIdentity(row);
    known.set(identity, (known.get(identity) ?? 0) + 1);
  }
  const added = page.filter(row => {
    const count = row.ns === last.ns ? (known.get(rowIdentity(row)) ?? 0) : 0;
    if (count > 0) known.set(rowIdentity(row), count - 1);
    return count === 0;
  });
  // Keys are unique only within a response.
  return [...rows, ...added.map(row => ({ ...row, key: `${rows.length}/${row.key}` }))];
}

/** Number of rows at the end with the timestamp of the last row. */
export function lastOfOneTime(rows: readonly LogRow[]): number {
  let from = rows.length;
  while (from > 0 && rows[from - 1].ns === rows[rows.length - 1].ns) from--;
  return rows.length - from;
}

/** Identity of an entry. */
export function rowIdentity({ stream, line, metadata }: LogRow): string {
  return JSON.stringify([stream, line, metadata]);
}

export function compareNs(a: string, b: string): number {
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : a > b ? 1 : 0;
}
