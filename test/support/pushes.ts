/** Pushes made from plain entries, as decoding and validation would leave them. */
import { type AcceptedPush, NS_OF_DAY, PushColumns } from '../../shared/ingest/push-columns.ts';
import { type PlainEntry, streamOf } from './rows.ts';

export interface DatedEntry extends PlainEntry {
  /** UTC day since 1970-01-01. */
  readonly day: number;
}

/** An accepted push of all entries, in their order; no level is detected. */
export function pushOf(entries: readonly DatedEntry[]): AcceptedPush {
  const columns = new PushColumns(Buffer.alloc(0));
  const places = new Map<string, number>();
  for (const { stream, day, time, line, metadata } of entries) {
    if (time < 0 || time >= NS_OF_DAY) throw new RangeError(`time ${time} outside its day`);
    const one = streamOf(stream);
    if (!places.has(one.text)) places.set(one.text, columns.streams.push(one) - 1);
    const lineStart = columns.append(Buffer.from(line));
    columns.addEntry(places.get(one.text)!, day, time, lineStart, columns.bytes.length);
    for (const [name, value] of Object.entries(metadata)) {
      const start = columns.append(Buffer.from(value));
      columns.addPair(columns.nameId(name), start, columns.bytes.length);
    }
  }
  return {
    columns,
    entries: Uint32Array.from(entries, (_, i) => i),
    levelOf: new Uint16Array(entries.length),
    levels: [],
  };
}

/** What makes two entries the same (design, 4). */
export function identityOf({ stream, day, time, line, metadata }: DatedEntry): string {
  const pairs = Object.entries(metadata).sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return JSON.stringify([streamOf(stream).text, day, time, line, pairs]);
}
