/**
 * Commits on their way to the thread of live tails: each once, whatever fails on the way, and never more than
 * a bound.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { forwardedTable } from '../../../local/threads/forwarded-table.ts';
import type { RoleCall } from '../../../local/threads/role-messages.ts';
import { TailRelay } from '../../../local/threads/tail-relay.ts';
import { ThreadLostError } from '../../../local/threads/thread-errors.ts';
import { seededIds, virtualClock } from '../../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import type { Write } from '../../../shared/base/ports/table.ts';
import { ThrottledError } from '../../../shared/base/ports/throttled.ts';
import { Catalog } from '../../../shared/storage/catalog/catalog.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import { decodeRecord } from '../../../shared/storage/catalog/chunk-record.ts';

type Sent = Extract<RoleCall, { kind: 'committed' | 'overflowed' }>;

const DAY = 20_000;
const MAX_BYTES = 1_000_000;
const nextTurn = () => new Promise(resolve => setImmediate(resolve));

/**
 * An ingest thread's catalog, whose writes are committed here, and a thread of tails that receives on
 * request.
 */
function makeWorld() {
  const clock = virtualClock(DAY * 86_400_000);
  const table = memoryTable({ clock });
  const own = new Catalog({ table, clock, ids: seededIds(1) });
  const sent: { readonly call: Sent; take(): void; lose(): void }[] = [];
  const writes: Write[][] = [];
  let fails: Error | undefined;
  const relay = new TailRelay({
    tailLog: own.tailLog,
    table: {
      transact: async some => {
        if (fails !== undefined) throw fails;
        writes.push([...some]);
        await table.transact(some);
      },
    },
    clock,
    maxBytes: MAX_BYTES,
    send: call =>
      new Promise<void>((resolve, reject) =>
        sent.push({ call, take: resolve, lose: () => reject(new ThreadLostError('ended')) }),
      ),
  });
  const pushing = new Catalog({
    table: forwardedTable(table, async some => {
      await table.transact(some);
      await relay.committed(some);
    }),
    clock,
    ids: seededIds(2),
  });
  pushing.tailLog.followAll({ take: () => true, logged: () => undefined });
  let chunks = 0;
  return {
    relay,
    sent,
    writes,
    own,
    clock,
    fail(error: Error | undefined) {
      fails = error;
    },
    /** Resolves to the chunk's id. */
    async commit(tenant: string, bytes = 10): Promise<string> {
      const id = (++chunks).toString(16).padStart(32, '0');
      const inline = Buffer.alloc(bytes, chunks);
      const record: ChunkRecord = {
        tenant,
        id,
        origin: id,
        day: DAY,
        level: 0,
        first: 0,
        last: 1,
        rows: 1,
        lineBytes: 1,
        metadataBytes: 0,
        asOfMs: 0,
        storedBytes: bytes,
        footerBytes: 1,
        pairs: undefined,
        inline,
        footer: undefined,
      };
      await pushing.addChunks([record]);
      return id;
    },
    /** Reported IDs, in their order. */
    told: () =>
      sent.flatMap(({ call }) =>
        call.kind === 'committed'
          ? call.chunks.map(({ tenant, day, body }) => decodeRecord(tenant, day, body).id)
          : [],
      ),
    overflowed: () => sent.flatMap(({ call }) => (call.kind === 'overflowed' ? [call.tenant] : [])),
    logged: async (tenant: string) => (await own.tailLog.read(tenant, 0)).map(({ record }) => record.id),
  };
}

test('commits of tenants with tails are reported, from the first tail to the last, and no others', async () => {
  const { relay, commit, told, logged, writes } = makeWorld();
  const tenants = ["it's-(a).*tenant!", 'c', '1'];
  for (const tenant of tenants) await commit(tenant);
  for (const tenant of tenants) relay.open(tenant, 'one');
  relay.open('c', 'two');
  const ids = [];
  for (const tenant of [...tenants, 'other']) ids.push(await commit(tenant));
  expect(told()).toEqual(ids.slice(0, 3));
  relay.close('c', 'one');
  relay.close('1', 'one');
  const last = [await commit('c'), await commit('1')];
  expect(told().slice(3)).toEqual([last[0]]);
  relay.close('c', 'two');
  await commit('c');
  expect(told()).toHaveLength(4);
  expect(writes).toEqual([]);
  for (const tenant of tenants) expect(await logged(tenant)).toEqual([]);
});

test('a connection that ends late does not end those that came after it', async () => {
  const { relay, commit, told } = makeWorld();
  relay.open('a', 'old');
  relay.close('a', 'old');
  relay.open('a', 'new');
  relay.close('a', 'old');
  const id = await commit('a');
  expect(told()).toEqual([id]);
});

test('a commit that exceeds the bound is logged before the push is answered, and the thread reads it there', async () => {
  const { relay, commit, told, sent, overflowed, logged } = makeWorld();
  relay.open('a', 'one');
  relay.open('b', 'one');
  const size = 300_000;
  const ids: string[] = [];
  while (overflowed().length === 0) ids.push(await commit('a', size));
  expect(ids.length * size).toBeGreaterThan(MAX_BYTES);
  expect((ids.length - 1) * size).toBeLessThanOrEqual(MAX_BYTES);
  const more = [await commit('a', size), await commit('a', size)];
  const other = await commit('b', size);
  expect([...told(), ...(await logged('a'))]).toEqual([...ids, ...more]);
  expect(await logged('b')).toEqual([other]);
  // It is reported once, and again if there was more in the meantime.
  expect(overflowed()).toEqual(['a', 'b']);
  for (const { call, take } of [...sent]) if (call.kind === 'overflowed') take();
  await nextTurn();
  expect(overflowed()).toEqual(['a', 'b', 'a']);
  sent.at(-1)!.take();
  await nextTurn();
  expect(overflowed()).toHaveLength(3);
  // Receiving one frees space.
  sent[0].take();
  await nextTurn();
  const next = await commit('a', size);
  expect(told().at(-1)).toBe(next);
});

test('a lost thread frees its space', async () => {
  const { relay, commit, sent, overflowed } = makeWorld();
  relay.open('a', 'one');
  while (overflowed().length === 0) await commit('a', 100_000);
  for (const { lose } of sent) lose();
  await nextTurn();
  const before = overflowed().length;
  for (let i = 0; i < 5; i++) await commit('a', 100_000);
  expect(overflowed()).toHaveLength(before);
});

test('does not acknowledge a commit that can neither be reported nor logged', async () => {
  const { relay, commit, fail, overflowed } = makeWorld();
  relay.open('a', 'one');
  while (overflowed().length === 0) await commit('a', 100_000);
  fail(new ThrottledError('too much'));
  await expect(commit('a', 100_000)).rejects.toThrow('too much');
  fail(undefined);
  await commit('a');
});

test('a logged commit is reported with its position, or read from the log if the queue is full', async () => {
  const { relay, sent, overflowed, writes } = makeWorld();
  const chunk = (tenant: string, bytes = 10) => ({
    tenant,
    day: DAY,
    stampMs: 5,
    body: new Uint8Array(bytes),
  });
  relay.logged([chunk('a')]);
  expect(sent).toEqual([]);
  relay.open('a', 'one');
  relay.logged([chunk('a'), chunk('b')]);
  expect(sent.map(({ call }) => call)).toEqual([{ kind: 'committed', chunks: [chunk('a')], logged: true }]);
  relay.logged([chunk('a', MAX_BYTES)]);
  expect(overflowed()).toEqual(['a']);
  expect(writes).toEqual([]);
});

test('reports or logs each commit once, for any receives and losses', async () => {
  const event = fc.oneof(
    { weight: 5, arbitrary: fc.record({ does: fc.constant('commits'), size: fc.constantFrom(10, 300_000) }) },
    fc.record({ does: fc.constantFrom('takes', 'loses'), size: fc.nat(50) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 30 }), async events => {
      const { relay, commit, told, logged, sent } = makeWorld();
      relay.open('a', 'one');
      const ids: string[] = [];
      for (const { does, size } of events) {
        if (does === 'commits') ids.push(await commit('a', size));
        else if (does === 'takes') sent[size % Math.max(1, sent.length)]?.take();
        else sent[size % Math.max(1, sent.length)]?.lose();
        await nextTurn();
      }
      expect([...told(), ...(await logged('a'))].sort()).toEqual(ids);
    }),
    { numRuns: 50 },
  );
});
