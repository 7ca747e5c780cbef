/** Which commits are in the log of tails: all that a snapshot taken MARKER_KNOWN_MS after the marker may miss. */
import { expect, test } from '@jest/globals';
import { seededIds, virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { newChunkId } from '../../shared/storage/catalog/chunk-id.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { type LoggedChunk, MARKER_KNOWN_MS } from '../../shared/storage/catalog/tail-log.ts';
import { chunksOf } from '../support/chunks-of.ts';

const TENANT = 't';
const DAY = 20_000;

function setUp() {
  const clock = virtualClock();
  const table = memoryTable({ clock });
  let seed = 0;
  const process = (over: Table = table) => {
    const ids = seededIds(++seed);
    const catalog = new Catalog({ table: over, clock, ids });
    return { catalog, record: (more: Partial<ChunkRecord> = {}) => recordOf(newChunkId(clock, ids), more) };
  };
  const logged = async (catalog: Catalog) =>
    (await catalog.tailLog.read(TENANT, 0)).map(({ record }) => record.id);
  return { clock, table, process, logged };
}

function recordOf(id: string, more: Partial<ChunkRecord>): ChunkRecord {
  const inline = Buffer.from('a chunk');
  return {
    id,
    origin: id,
    tenant: TENANT,
    day: DAY,
    level: 0,
    first: 1,
    last: 2,
    rows: 2,
    lineBytes: 5,
    metadataBytes: 0,
    asOfMs: 0,
    storedBytes: inline.length,
    footerBytes: 3,
    pairs: undefined,
    inline,
    footer: undefined,
    ...more,
  };
}

test('without a marker nothing is logged, and a look lasts for MARKER_KNOWN_MS', async () => {
  const { clock, table, process, logged } = setUp();
  let reads = 0;
  const counted: Table = {
    ...table,
    get: key => {
      if (key.pk.startsWith('tm/')) reads++;
      return table.get(key);
    },
  };
  const { catalog, record } = process(counted);
  for (let i = 0; i < 5; i++) await catalog.addChunks([record()]);
  expect([reads, await logged(catalog)]).toEqual([1, []]);
  await clock.advance(MARKER_KNOWN_MS);
  await catalog.addChunks([record()]);
  expect(reads).toBe(2);
});

test('the log has the record as it was, whole, and of its tenant alone', async () => {
  const { clock, process } = setUp();
  const { catalog, record } = process();
  await catalog.tailLog.mark(TENANT, 60_000);
  const one = record();
  await catalog.addChunks([one, record({ tenant: 'u' })]);
  const [found, ...others] = await catalog.tailLog.read(TENANT, 0);
  expect(others).toEqual([]);
  expect({ ...found.record, inline: `${found.record.inline}` }).toEqual({ ...one, inline: 'a chunk' });
  expect(await catalog.tailLog.read('u', 0)).toEqual([]);
  expect(await catalog.tailLog.read(TENANT, clock.nowMs() + 1)).toEqual([]);
});

test('another process logs MARKER_KNOWN_MS after the marker at the latest, and no more when it has lapsed', async () => {
  const { clock, process, logged } = setUp();
  const here = process();
  const there = process();
  await there.catalog.addChunks([there.record()]);
  await here.catalog.tailLog.mark(TENANT, 60_000);
  await clock.advance(MARKER_KNOWN_MS);
  const record = there.record();
  await there.catalog.addChunks([record]);
  expect(await logged(here.catalog)).toEqual([record.id]);
  await clock.advance(61_000);
  await there.catalog.addChunks([there.record()]);
  expect(await logged(here.catalog)).toEqual([record.id]);
});

test('a commit under way when the marker comes is in the log before it is acknowledged, or in every later snapshot', async () => {
  for (const isSameProcess of [true, false]) {
    const { clock, table, process, logged } = setUp();
    let open = (): void => undefined;
    const gate = new Promise<void>(resolve => (open = resolve));
    const slow: Table = {
      ...table,
      put: async (item, condition) => {
        if (item.pk.startsWith('c/')) await gate;
        return table.put(item, condition);
      },
    };
    const pusher = process(slow);
    const reader = isSameProcess ? pusher : process();
    // Days are announced in a transaction, which is not slow here.
    await pusher.catalog.addChunks([pusher.record()]);
    const record = pusher.record();
    const commit = pusher.catalog.addChunks([record]);
    await clock.advance(1);
    await reader.catalog.tailLog.mark(TENANT, 60_000);
    await clock.advance(isSameProcess ? 0 : MARKER_KNOWN_MS);
    // The snapshot of a tail that joins now does not have it.
    const before = (
      await chunksOf(
        reader.catalog,
        TENANT,
        BigInt(DAY) * 86_400_000_000_000n,
        BigInt(DAY + 1) * 86_400_000_000_000n,
      )
    ).map(({ id }) => id);
    expect(before).not.toContain(record.id);
    open();
    await clock.run(commit);
    expect(await logged(reader.catalog)).toEqual([record.id]);
  }
});

test('a marker that cannot be read counts as there, and a push does not wait for it for long', async () => {
  const { clock, table, process, logged } = setUp();
  const stuck: Table = {
    ...table,
    get: key => (key.pk.startsWith('tm/') ? new Promise(() => undefined) : table.get(key)),
  };
  const { catalog, record } = process(stuck);
  const one = record();
  const startMs = clock.nowMs();
  await clock.run(catalog.addChunks([one]));
  expect(clock.nowMs() - startMs).toBeLessThanOrEqual(250);
  expect(await logged(catalog)).toEqual([one.id]);
});

test('logs commits for subscribers of all commits only if a queue is full, before they are acknowledged', async () => {
  const { table, process, logged } = setUp();
  let reads = 0;
  const counted: Table = {
    ...table,
    get: key => {
      if (key.pk.startsWith('tm/')) reads++;
      return table.get(key);
    },
  };
  const { catalog, record } = process(counted);
  const happened: string[] = [];
  let hasRoom = true;
  const end = catalog.tailLog.followAll({
    take: chunks => {
      happened.push(`told of ${chunks.length}`);
      return hasRoom;
    },
    logged: tenant => happened.push(`logged of ${tenant}`),
  });
  expect(() => catalog.tailLog.followAll({ take: () => true, logged: () => undefined })).toThrow(
    'one follower hears of all commits',
  );
  await catalog.tailLog.mark(TENANT, 60_000);
  await catalog.addChunks([record(), record()]);
  expect([happened.splice(0), await logged(catalog), reads]).toEqual([['told of 2'], [], 0]);
  hasRoom = false;
  const late = record();
  await catalog.addChunks([late]);
  expect([happened, await logged(catalog)]).toEqual([['told of 1', `logged of ${TENANT}`], [late.id]]);
  end();
  await catalog.addChunks([record()]);
  expect(happened).toHaveLength(2);
});

test('reports commits of this process to subscribers once they are visible', async () => {
  const { process } = setUp();
  const { catalog, record } = process();
  const told: LoggedChunk[][] = [];
  const end = catalog.tailLog.listen(chunks => told.push([...chunks]));
  await catalog.addChunks([record()]);
  expect(told).toEqual([]);
  await catalog.tailLog.mark(TENANT, 60_000);
  const records = Array.from({ length: 70 }, (_, i) => record({ last: i + 2 }));
  await catalog.addChunks(records);
  // Known from before: a rebuilt catalog is not reported.
  await catalog.addChunks([record()], { known: true });
  expect(
    told
      .flat()
      .map(({ record: one }) => one.id)
      .sort(),
  ).toEqual(records.map(({ id }) => id).sort());
  end();
  await catalog.addChunks([record()]);
  expect(told.flat()).toHaveLength(70);
});
