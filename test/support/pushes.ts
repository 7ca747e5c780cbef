/** Pushes made from plain entries, as decoding and validation would leave them. Lines are texts of byte-text.ts. */

import { bytesOfText } from '../../shared/base/model/byte-text.ts';
import { NS_OF_DAY } from '../../shared/base/model/time-units.ts';
import { type AcceptedPush, PushColumns } from '../../shared/write/ingest/push-columns.ts';
import { type PlainEntry, streamOf } from './rows.ts';

export interface DatedEntry extends PlainEntry {
  /** UTC day since 1970-01-01. */
  readonly day: number;
}

/** An accepted push of all entries, in their order; no level is detected. */
export function pushOf(entries: readonly DatedEntry[]): AcceptedPush {
  // One buffer for all: columns that grow by one line after the other copy all of them each time.
  const values = entries.flatMap(({ line, metadata }) => [line, ...Object.values(metadata)]);
  const bytes = values.map(value => bytesOfText(value));
  const columns = new PushColumns(Buffer.concat(bytes));
  const indexes = new Map<string, number>();
  const indexOf = new Map<PlainEntry['stream'], number>();
  let [next, end] = [0, 0];
  const range = (): [start: number, end: number] => {
    const start = end;
    end += bytes[next++].length;
    return [start, end];
  };
  for (const { stream, day, time, metadata } of entries) {
    if (time < 0 || time >= NS_OF_DAY) throw new RangeError(`time ${time} outside its day`);
    if (!indexOf.has(stream)) {
      const one = streamOf(stream);
      if (!indexes.has(one.text)) indexes.set(one.text, columns.streams.push(one) - 1);
      indexOf.set(stream, indexes.get(one.text)!);
    }
    columns.addEntry(indexOf.get(stream)!, day, time, ...range());
    for (const name of Object.keys(metadata)) columns.addPair(columns.nameId(name), ...range());
  }
  return {
    columns,
    entries: Uint32Array.from(entries, (_, i) => i),
    lineBytes: entries.reduce((sum, { line }) => sum + bytesOfText(line).length, 0),
    levelOf: new Uint16Array(entries.length),
    levels: [],
  };
}

/** Identity of an entry. */
export function identityOf({ stream, day, time, line, metadata }: DatedEntry): string {
  const pairs = Object.entries(metadata).sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return JSON.stringify([streamOf(stream).text, day, time, line, pairs]);
}
