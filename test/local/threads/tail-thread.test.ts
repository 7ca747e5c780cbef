/** Live tails of a thread whose commits are made by another and whose sockets are in a third. */
import { afterEach, expect, test } from '@jest/globals';
import { forwardedTable } from '../../../local/threads/forwarded-table.ts';
import type { RoleAsk, RoleTell } from '../../../local/threads/role-messages.ts';
import { TailRelay } from '../../../local/threads/tail-relay.ts';
import { TailThread } from '../../../local/threads/tail-thread.ts';
import { createThreadLog } from '../../../local/threads/thread-log.ts';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../../shared/base/runtime/system-clock.ts';
import { DEFAULT_CONFIG } from '../../../shared/server/admin/config-fields.ts';
import { assembleContext } from '../../../shared/server/http/assemble.ts';
import { Catalog } from '../../../shared/storage/catalog/catalog.ts';
import { UsageRecords } from '../../../shared/storage/catalog/usage-records.ts';
import { QUICK_COMPRESSION } from '../../../shared/storage/codec/compression.ts';
import { GroupCommitter } from '../../../shared/write/ingest/group-commit.ts';
import { pushOf } from '../../support/pushes.ts';
import { until } from '../../support/until.ts';

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

async function makeWorld({ maxRelayedBytes = 1_000_000 } = {}) {
  const clock = SYSTEM_CLOCK;
  const ids = SYSTEM_IDS;
  const table = memoryTable({ clock });
  const store = memoryObjectStore();
  const logged: RoleTell[] = [];
  const lines = new Map<string, string[]>();
  const closed: string[] = [];
  const context = assembleContext({
    config: DEFAULT_CONFIG,
    store,
    catalog: new Catalog({ table, clock, ids }),
    clock,
    ids,
    usageRecords: new UsageRecords(table),
    notReady: () => undefined,
  });
  const ask = async (asked: RoleAsk): Promise<unknown> => {
    switch (asked.kind) {
      case 'post': {
        const frame = JSON.parse(Buffer.from(asked.message).toString()) as {
          readonly streams: readonly { readonly values: readonly (readonly [string, string])[] }[];
        };
        const shown = frame.streams.flatMap(({ values }) => values.map(([, line]) => line));
        lines.get(asked.connectionId)?.push(...shown);
        return lines.has(asked.connectionId) ? 'ok' : 'gone';
      }
      case 'connection':
        return lines.has(asked.connectionId) ? { connectedMs: 0, lastActiveMs: 0 } : undefined;
      case 'close':
        return void closed.push(`${asked.connectionId} ${asked.options.code}`);
      default:
        throw new Error(asked.kind);
    }
  };
  const tails = new TailThread({
    context,
    ask,
    log: createThreadLog(line => void logged.push(line)),
    isAlone: true,
  });
  ends.push(() => tails.stop());
  const relay = new TailRelay({
    tailLog: new Catalog({ table, clock, ids }).tailLog,
    table,
    clock,
    maxBytes: maxRelayedBytes,
    send: call =>
      call.kind === 'committed'
        ? tails.committed(structuredClone(call.chunks), call.logged)
        : Promise.resolve(tails.overflowed(call.tenant)),
  });
  /** An ingest thread. */
  const thread = () => {
    const catalog = new Catalog({
      table: forwardedTable(table, async writes => {
        await table.transact(writes);
        await relay.committed(writes);
      }),
      clock,
      ids,
    });
    catalog.tailLog.followAll({ take: () => true, logged: () => undefined });
    const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 4096, compression: QUICK_COMPRESSION };
    const committer = new GroupCommitter({ store, catalog, clock, ids, options });
    return async (tenant: string, some: readonly string[]) => {
      const ns = clock.nowNs();
      const day = Number(ns / 86_400_000_000_000n);
      const time = Number(ns % 86_400_000_000_000n);
      const stream = { app: 'a' };
      await committer.commit(tenant, pushOf(some.map(line => ({ stream, day, time, line, metadata: {} }))));
    };
  };
  return {
    tails,
    thread,
    logged,
    closed,
    async open(tenant: string, id: string, query = '{app="a"}') {
      lines.set(id, []);
      relay.open(tenant, id);
      const startNs = clock.nowNs() - 3_600_000_000_000n;
      return tails.open({ tenant, query, form: 'current', flags: [], limit: 100, startNs, delayMs: 0 }, id);
    },
    async leave(tenant: string, id: string) {
      lines.delete(id);
      relay.close(tenant, id);
      await tails.close(tenant, id);
    },
    linesOf: (id: string) => lines.get(id)!,
  };
}

test.each([
  ['told', 1_000_000],
  ['logged, because there is no room', 0],
  ['told and logged', 2_000],
])('commits that are %s come to each tail once', async (_, maxRelayedBytes) => {
  const { open, thread, linesOf, logged } = await makeWorld({ maxRelayedBytes });
  const threads = [thread(), thread(), thread()];
  await threads[0]('acme', ['before']);
  expect(await open('acme', 'one')).toBeUndefined();
  await until(() => linesOf('one').length === 1);
  const wanted = ['before'];
  const pushes: Promise<void>[] = [];
  for (let i = 0; i < 60; i++) {
    wanted.push(`line ${i}`);
    pushes.push(threads[i % 3]('acme', [`line ${i}`]));
    if (i === 30) expect(await open('acme', 'two')).toBeUndefined();
    if (i % 10 === 9) await pushes[i];
  }
  await Promise.all(pushes);
  await threads[1]('acme', ['the last one']);
  wanted.push('the last one');
  for (const id of ['one', 'two']) {
    await until(() => linesOf(id).length >= wanted.length);
    expect([...linesOf(id)].sort()).toEqual([...wanted].sort());
  }
  expect(logged).toEqual([]);
});

test('a tail that leaves is shown nothing more, and its slot is free', async () => {
  const { open, leave, thread, linesOf } = await makeWorld();
  const push = thread();
  await open('acme', 'one');
  await open('acme', 'two');
  await push('acme', ['first']);
  await until(() => linesOf('one').length === 1 && linesOf('two').length === 1);
  const left = linesOf('one');
  await leave('acme', 'one');
  await push('acme', ['second']);
  await until(() => linesOf('two').length === 2);
  expect(left).toEqual(['first']);
});

test('refuses invalid requests with the reason', async () => {
  const { open } = await makeWorld();
  expect(await open('acme', 'one', 'rate({app="a"}[1m])')).toContain('log');
  expect(await open('acme', 'two', '{app=')).toContain('parse error');
});

test('a record that is damaged in transit is logged, and later ones are shown', async () => {
  const { tails, open, thread, linesOf, logged } = await makeWorld();
  await open('acme', 'one');
  await tails.committed([{ tenant: 'acme', day: 1, stampMs: 1, body: Buffer.from('no record') }], false);
  expect(logged).toMatchObject([{ level: 'error', message: 'delivery of commits to live tails failed' }]);
  await thread()('acme', ['next']);
  await until(() => linesOf('one').length === 1);
});
