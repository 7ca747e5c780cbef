/** A tenant under another name: the same answers, nothing left, and a kill at any write does no harm. */
import { describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { Visibility } from '../../shared/read/query/visibility.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { type DeleteRequest, NOT_BEGUN } from '../../shared/storage/catalog/delete-request.ts';
import { HEARTBEAT_MS, UNHEALTHY_AFTER_MS } from '../../shared/storage/catalog/membership.ts';
import { newGroupRecord } from '../../shared/storage/catalog/rule-state.ts';
import { type TokenRecord, Tokens } from '../../shared/storage/catalog/tokens.ts';
import { UsageRecords } from '../../shared/storage/catalog/usage-records.ts';
import { DeleteFilterSource } from '../../shared/upkeep/deletion/delete-filters.ts';
import { type MoveParts, MoveRefusedError } from '../../shared/upkeep/tenant-rename/move-parts.ts';
import { moveTenant, refuseWhileUsed } from '../../shared/upkeep/tenant-rename/move-tenant.ts';
import { batch, createWorld, type World } from '../integrity/world.ts';
import { DAY, rangeQuery, requester } from '../support/engine.ts';

const GROUP = {
  name: 'g',
  intervalNs: 0n,
  queryOffsetNs: 0n,
  limit: 0,
  rules: [
    { kind: 'recording' as const, record: 'r', expr: 'sum(count_over_time({app="a"}[1m]))', labels: {} },
  ],
};
const TOKEN: Omit<TokenRecord, 'id' | 'tenants'> = { name: 'n', hash: 'h', scopes: [], createdMs: 1 };
const GRACE_MS = 600_000;

function request(world: World, tenant: string): DeleteRequest {
  const startNs = BigInt(DAY) * 86_400_000_000_000n;
  return {
    id: '00c0ffee',
    tenant,
    query: '{app="gone"}',
    startNs,
    endNs: startNs + 86_399_999_999_999n,
    intervalNs: 0n,
    createdMs: world.clock.nowMs(),
    ...NOT_BEGUN,
  };
}

function partsOf(
  world: World,
  table: Table = world.parts.table,
  store: ObjectStore = world.store,
): MoveParts {
  const { clock, ids } = world;
  const catalog = new Catalog({ table, clock, ids });
  return { catalog, store, clock, usage: new UsageRecords(table), tokens: new Tokens({ table }) };
}

/** Tenant `t` with objects, inline chunks, a merged day, and everything else it may have. */
async function filled(): Promise<World> {
  const world = createWorld(3);
  await world.push(batch('first', 60));
  await world.push(batch('second', 60, 7));
  await world.push(batch('inline', 1, 11));
  await world.push(batch('hidden', 30, 13, 'gone'));
  await world.push(batch('other', 5), 'bystander');
  const { catalog, usage, tokens } = partsOf(world);
  await catalog.deletes.create(request(world, 't'));
  await catalog.ruleGroups.set('t', 'space', GROUP, 0);
  await catalog.saved.create('t', 'boards', { name: 'b', about: '', content: { panels: [] } });
  await catalog.saved.create('t', 'queries', { name: 'q', about: '', content: 1 });
  const lease = await catalog.leases.take('x', 60_000);
  // A group, and one that was deleted.
  for (const name of ['g', 'gone']) {
    const before = await catalog.ruleStates.load({ tenant: 't', namespace: 'space', name });
    await catalog.ruleStates.save('t', before, newGroupRecord('space', name), lease!);
  }
  const day = Math.floor(world.clock.nowMs() / 86_400_000);
  await usage.write({ tenant: 't', day, writer: 'w1', body: Buffer.from('x') });
  await usage.write({ tenant: 't', day: day - 300, writer: 'w2', body: Buffer.from('y') });
  await tokens.add({ ...TOKEN, id: '1', tenants: ['t'] });
  await tokens.add({ ...TOKEN, id: '2', tenants: ['bystander', 't', 'new'] });
  await tokens.add({ ...TOKEN, id: '3', tenants: ['*'] });
  return world;
}

const options = { from: 't', to: 'new', graceMs: GRACE_MS };

/** Entries as a query of the store answers, without what delete requests hide. */
async function ask(world: World, tenant = 't'): Promise<string[]> {
  const { catalog, clock } = partsOf(world);
  const deleteFilters = new DeleteFilterSource({ deletes: catalog.deletes, clock });
  const visibility = new Visibility({ deleteFilters, limitsOf: () => DEFAULT_LIMITS, enabled: true });
  const engine = new QueryEngine({ catalog, source: new ChunkSource(world.store), clock, visibility });
  const query = rangeQuery('{app=~".+"}', { limit: 5000 });
  const { result } = await engine.range(query, requester({ tenants: [tenant] }));
  if (result.kind !== 'streams') throw new Error(`got a ${result.kind}`);
  return result.streams.flatMap(({ entries }) => entries.map(({ line }) => line)).sort();
}

/** Everything that a tenant has. */
async function stateOf(world: World, tenant: string) {
  const { catalog, usage, tokens } = partsOf(world);
  const day = Math.floor(world.clock.nowMs() / 86_400_000);
  const used = await Promise.all([day, day - 300].map(at => Array.fromAsync(usage.read(tenant, at))));
  const groups = await catalog.ruleGroups.list(tenant);
  return {
    entries: await ask(world, tenant),
    deletes: (await catalog.deletes.list(tenant)).map(one => ({ ...one, tenant: '' })),
    groups: groups.map(({ namespace, group }) => ({ namespace, group })),
    saved: [
      ...(await catalog.saved.list(tenant, 'queries')),
      ...(await catalog.saved.list(tenant, 'boards')),
    ],
    states: (await catalog.ruleStates.orphans(tenant, [])).map(({ record }) => record.name).sort(),
    usage: used.flat().map(({ writer, body }) => `${writer} ${Buffer.from(body)}`),
    tokens: (await tokens.list()).filter(({ tenants }) => tenants.includes(tenant)).map(({ id }) => id),
  };
}

const NOTHING = { entries: [], deletes: [], groups: [], saved: [], states: [], usage: [], tokens: [] };

async function expectMoved(world: World, before: Awaited<ReturnType<typeof stateOf>>): Promise<void> {
  expect(await stateOf(world, 'new')).toEqual(before);
  expect(await stateOf(world, 't')).toEqual(NOTHING);
  expect((await ask(world, 'bystander')).length).toBe(5);
  // The doctor verifies every checksum, and finds records and objects to agree.
  expect((await world.check()).problems).toEqual([]);
}

/** The table and the store of a process that is killed before its nth write. */
function mortal(world: World, writes: number): MoveParts & { readonly left: () => number } {
  let left = writes;
  const step = () => {
    if (left-- <= 0) throw new Error('killed');
  };
  const { table } = world.parts;
  const dying: Table = {
    get: key => table.get(key),
    query: (pk, query) => table.query(pk, query),
    put: async (...given) => {
      step();
      return table.put(...given);
    },
    delete: async (...given) => {
      step();
      return table.delete(...given);
    },
    transact: async (...given) => {
      step();
      return table.transact(...given);
    },
  };
  const store: ObjectStore = {
    ...world.store,
    get: key => world.store.get(key),
    putIfAbsent: async (...given) => {
      step();
      return world.store.putIfAbsent(...given);
    },
  };
  return { ...partsOf(world, dying, store), left: () => left };
}

describe('a move', () => {
  test('the new tenant has all that the old one had, and the old one nothing', async () => {
    const world = await filled();
    const before = await stateOf(world, 't');
    expect(before.entries).toHaveLength(121);
    const totals = await moveTenant(partsOf(world), options);
    expect(totals).toMatchObject({ days: 1, chunks: 4, inlineChunks: 1, rows: 151, deleteRequests: 1 });
    expect(totals).toMatchObject({ ruleGroups: 1, savedItems: 2, usageRecords: 2, tokens: 2 });
    await expectMoved(world, { ...before, tokens: ['1', '2'] });
    const { tokens } = partsOf(world);
    expect((await tokens.get('2'))?.record.tenants).toEqual(['bystander', 'new']);
    expect((await tokens.get('3'))?.record.tenants).toEqual(['*']);
  });

  test('the old objects go when the grace is over; day and index with them; maintenance works on', async () => {
    const world = await filled();
    await world.sync();
    const before = await ask(world);
    world.clock.advance(3_600_000);
    await moveTenant(partsOf(world), options);
    expect(await world.parts.catalog.allDays('t')).toEqual([]);
    expect(await world.keys('t/')).not.toEqual([]);
    world.clock.advance(GRACE_MS + 1);
    await world.collect();
    expect(await world.keys('t/')).toEqual([]);
    await world.compact('new');
    await world.sync('new');
    expect(await ask(world, 'new')).toEqual(before);
    expect((await world.check()).problems).toEqual([]);
  });

  test('moves a merged day, and moves it back again', async () => {
    const world = await filled();
    await world.compact();
    const before = await ask(world);
    await moveTenant(partsOf(world), options);
    expect(await ask(world, 'new')).toEqual(before);
    await moveTenant(partsOf(world), { ...options, from: 'new', to: 't' });
    expect(await ask(world)).toEqual(before);
    expect(await ask(world, 'new')).toEqual([]);
  });

  test('killed at any write and repeated it comes to the same', async () => {
    const whole = await filled();
    const alive = mortal(whole, Number.MAX_SAFE_INTEGER);
    await moveTenant(alive, options);
    const writes = Number.MAX_SAFE_INTEGER - alive.left();
    expect(writes).toBeGreaterThan(20);
    // The last write gives the lease back.
    for (let at = 1; at < writes - 1; at++) {
      const world = await filled();
      const before = await stateOf(world, 't');
      await expect(moveTenant(mortal(world, at), options)).rejects.toThrow('killed');
      // Nothing is lost meanwhile: entries that are missing under one name exist under the other.
      const [old, now] = [await ask(world), await ask(world, 'new')];
      expect([...new Set([...old, ...now])].sort()).toEqual(before.entries);
      // The lease of the dead has to end.
      world.clock.advance(180_000);
      await moveTenant(partsOf(world), options);
      await expectMoved(world, { ...before, tokens: ['1', '2'] });
    }
  });
});

describe('refusals', () => {
  const refusal = (world: World, given = options) => moveTenant(partsOf(world), given);

  test.each([
    [{ to: 't' }, 'both tenant names are the same'],
    [{ from: '' }, 'the tenant name is empty; give two tenant names'],
    [{ to: 'a:b' }, "unsupported character ':'"],
    [{ from: 'nobody' }, 'tenant nobody has no data'],
    [
      { to: 'bystander' },
      'tenant bystander already has entries, rules, delete requests, saved queries or boards',
    ],
  ])('%j', async (change, message) => {
    const world = await filled();
    const before = await ask(world);
    await expect(refusal(world, { ...options, ...change })).rejects.toThrow(message);
    expect(await ask(world)).toEqual(before);
  });

  test('a second move while one is under way, or unfinished', async () => {
    const world = await filled();
    // The first write takes the lease, the second remembers the move.
    await expect(moveTenant(mortal(world, 2), options)).rejects.toThrow('killed');
    await expect(refusal(world, { ...options, to: 'third' })).rejects.toThrow('another move is in progress');
    world.clock.advance(180_000);
    await expect(refusal(world, { ...options, to: 'third' })).rejects.toThrow(
      'the move of t to new is unfinished; run it again first',
    );
  });

  test('a store in use, until it has been silent for a minute', async () => {
    const world = await filled();
    const parts = partsOf(world);
    const heartbeatMs = world.clock.nowMs();
    await parts.catalog.members.put({
      id: 'a',
      state: 'ACTIVE',
      address: 'host:3100',
      zone: '',
      components: [],
      registeredMs: heartbeatMs,
      heartbeatMs,
    });
    world.clock.advance(HEARTBEAT_MS);
    await expect(refuseWhileUsed(parts)).rejects.toThrow(MoveRefusedError);
    await expect(refuseWhileUsed(parts)).rejects.toThrow('in use by host:3100: stop them first');
    world.clock.advance(UNHEALTHY_AFTER_MS);
    await refuseWhileUsed(parts);
  });
});
