/** A tail begins with the newest entries of chunks with pages in no order, in their order, and continues with new ones. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { memoryConnections } from '../../shared/base/ports/memory/connections.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import type { TenantTailParts } from '../../shared/read/tail/tail-parts.ts';
import { TailService } from '../../shared/read/tail/tail-service.ts';
import { TenantTail } from '../../shared/read/tail/tenant-tail.ts';
import { testStores } from '../maintenance/store.ts';
import {
  FROM_NS,
  fillDay,
  inOrder,
  type PushedEntry,
  pushEntries,
  pushesOf,
  TENANT,
} from '../support/unsorted-day.ts';

const PUSHES = pushesOf(3, 6);

test.each(['.+', 'json|tiny', 'stack|odd', 'tiny'])('%s', async apps => {
  const stores = testStores();
  const { store } = stores;
  const clock = { ...stores.clock, sleep };
  const process = stores.process(1);
  const { catalog } = process;
  await fillDay(process, stores, PUSHES);
  const connections = memoryConnections({ clock });
  const failures: unknown[] = [];
  const limitsOf = () => DEFAULT_LIMITS;
  const parts: TenantTailParts = {
    catalog,
    source: new ChunkSource(store),
    clock,
    connections,
    limitsOf,
    log: { warn: fields => failures.push(fields), error: fields => failures.push(fields) },
    owner: 'owner',
    frames: { targetBytes: 32_000, maxBytes: 128_000 },
    joinMs: 0,
    maxDurationMs: 0,
    savesCursor: false,
  };
  const service = new TailService({ catalog, connections, clock, owner: 'owner', limitsOf });
  const tail = new TenantTail(TENANT, parts);
  const isTailed = ({ labels }: PushedEntry) => new RegExp(`^(${apps})$`).test(labels.app);
  const all = inOrder(PUSHES).filter(isTailed);
  const limits = [1, 30, 700, 5000];
  const opened = limits.map(limit => ({ limit, connection: connections.open(`${limit}`) }));
  for (const { limit } of opened) {
    const query = `{app=~"${apps}"}`;
    const asked = {
      tenant: TENANT,
      query,
      form: 'current',
      flags: [],
      limit,
      startNs: FROM_NS,
      delayMs: 0,
    } as const;
    expect(await service.open(asked, `${limit}`)).toBeUndefined();
  }
  await tail.step({ readsLog: true });
  await tail.drained();
  const later = {
    labels: { app: 'json', pod: '1', service_name: 'json' },
    timeNs: clock.nowNs(),
    line: 'later',
    metadata: {},
  };
  await pushEntries(process, [later]);
  await tail.step({ readsLog: true });
  await tail.drained();
  expect(failures).toEqual([]);
  const next = [later].filter(isTailed);
  const known = new Set([...all, ...next].map(shownEntry));
  for (const { limit, connection } of opened) {
    const want = [...all.slice(-limit), ...next];
    const found = shown(connection.messages);
    expect(found.every(entry => known.has(entry))).toBe(true);
    // Of one timestamp, entries with other metadata are other streams, and a limit keeps some of them.
    expect([limit, found.map(timeOf)]).toEqual([limit, want.map(shownEntry).map(timeOf)]);
    if (limit >= all.length) expect(found.toSorted()).toEqual(want.map(shownEntry).sort());
  }
  await tail.stop();
});

/** Time-outs never come: a wait of seconds ends when it is aborted. */
async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms < 1000) return nextTurn();
  const { promise, reject } = Promise.withResolvers<void>();
  signal?.addEventListener('abort', () => reject(signal.reason));
  return promise;
}

const shownEntry = ({ timeNs, line }: PushedEntry) => `${timeNs} ${line}`;
const timeOf = (entry: string) => entry.split(' ', 1)[0];

/** Times and lines of frames, in their order. */
function shown(messages: readonly string[]): string[] {
  return messages
    .flatMap(message => (JSON.parse(message) as { streams: { values: [string, string][] }[] }).streams)
    .flatMap(({ values }) => values.map(([ns, line]) => `${ns} ${line}`));
}
