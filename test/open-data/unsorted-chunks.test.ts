/** A closed day whose chunk has pages in no order, as files: each entry once, in order, with its labels, metadata and fields. */
import { zstdDecompressSync } from 'node:zlib';
import { expect, test } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { MS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { ALL_VISIBLE } from '../../shared/read/query/visibility.ts';
import { exportClosedDays } from '../../shared/server/open-data/closed-days.ts';
import { NOTES_PREFIX } from '../../shared/server/open-data/day-notes.ts';
import { testStores } from '../maintenance/store.ts';
import { fillDay, inOrder, keyOf, type PushedEntry, pushesOf } from '../support/unsorted-day.ts';

const PUSHES = pushesOf(4, 6);

test.each([60_000, 1e7])('in steps of %i bytes', async stepBytes => {
  const stores = testStores();
  const { clock } = stores;
  const process = stores.process(1);
  await fillDay(process, stores, PUSHES);
  await clock.advance(MS_PER_DAY);
  const files = new Map<string, Uint8Array>();
  const { catalog } = process;
  const report = await exportClosedDays({
    catalog,
    sources: { catalog, source: new ChunkSource(stores.store), clock },
    visibility: { of: async () => () => ALL_VISIBLE },
    store: {
      read: async key => files.get(key),
      write: async (key, bytes) => void files.set(key, bytes),
      remove: async key => void files.delete(key),
    },
    prefix: 'logs',
    clock,
    mayGoOn: () => true,
    stepBytes,
  });
  const want = inOrder(PUSHES);
  expect(report).toMatchObject({ entries: want.length, days: 1, isDone: true });
  const found: PushedEntry[] = [];
  const names = [...files.keys()].filter(key => !key.startsWith(NOTES_PREFIX));
  for (const name of names.sort()) {
    const { buffer } = Uint8Array.from(files.get(name)!);
    const compressors = { ZSTD: (packed: Uint8Array) => zstdDecompressSync(packed) };
    const rows = await parquetReadObjects({ file: buffer, compressors });
    const app = /service=(\w+)/.exec(name)![1];
    const ofFile = rows.map(({ timestamp_ns: timeNs, line, labels, metadata, field_n: n }) => {
      if (app === 'json' && line.startsWith('{"level"')) expect(n).toBe(BigInt(JSON.parse(line).n));
      expect(labels.service_name).toBe(app);
      const { detected_level: _, ...own } = metadata ?? {};
      return { labels, timeNs, line, metadata: own };
    });
    found.push(...ofFile);
  }
  // Files of a service follow each other, and the entries of each are in order.
  const byApp = (entries: readonly PushedEntry[]) => Object.groupBy(entries, ({ labels }) => labels.app);
  const [own, expected] = [byApp(found), byApp(want)];
  expect(Object.keys(own).sort()).toEqual(Object.keys(expected).sort());
  for (const [app, entries] of Object.entries(expected))
    expect(own[app]!.map(sortedKey)).toEqual(entries!.map(sortedKey));
});

/** Labels in the order of their names. */
function sortedKey({ labels, ...entry }: PushedEntry): string {
  return keyOf({ ...entry, labels: Object.fromEntries(Object.entries(labels).sort()) });
}
