/**
 * /patterns over a whole store: patterns are mined from lines and stored by compaction. Neither way shows
 * hidden or deleted entries.
 */
import { describe, expect, test } from '@jest/globals';
import type { Limits } from '../../shared/base/model/limits.ts';
import { MS_PER_DAY, MS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { readFooter } from '../../shared/storage/catalog/chunk-object.ts';
import { type Footer, SectionKind } from '../../shared/storage/chunk/format.ts';
import { readPatterns } from '../../shared/upkeep/pattern-mining/stored-patterns.ts';
import { START_MS, type TestProcess, type TestStores, testStores } from '../maintenance/store.ts';
import { chunksOf } from '../support/chunks-of.ts';

const headers = { 'x-scope-orgid': 'acme' };
const FILLING = 'y'.repeat(150);

interface Found {
  readonly pattern: string;
  readonly level: string;
  readonly samples: readonly (readonly [number, number])[];
}

interface World {
  readonly stores: TestStores;
  readonly process: TestProcess;
}

function start({ enabled = true, limits = {} as Partial<Limits> } = {}): World {
  const stores = testStores(
    {},
    { patternIngester: { enabled }, limits: { ...DEFAULT_CONFIG.limits, ...limits } },
  );
  return { stores, process: stores.process(1) };
}

type Line = readonly [ms: number, line: string];

async function push(
  { process }: World,
  stream: Record<string, string>,
  lines: readonly Line[],
): Promise<void> {
  const values = lines.map(([ms, line]) => [`${ms}000000`, line]);
  const { status, body } = await process.ask('POST', '/loki/api/v1/push', {
    headers: { ...headers, 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ streams: [{ stream, values }] })),
  });
  expect([status, Buffer.from(body).toString()]).toEqual([204, '']);
}

async function ask(
  { process }: World,
  params: Record<string, string | number> = {},
  path = '/loki/api/v1/patterns',
) {
  const given = {
    query: '{app="a"}',
    start: START_MS / 1000 - 7200,
    end: START_MS / 1000 + 60,
    step: '1h',
    ...params,
  };
  const pairs = Object.entries(given).map(([name, value]): [string, string] => [name, `${value}`]);
  const { status, body } = await process.ask('GET', path, {
    headers,
    rawQuery: `${new URLSearchParams(pairs)}`,
  });
  return { status, text: Buffer.from(body).toString() };
}

async function found(world: World, params: Record<string, string | number> = {}): Promise<Found[]> {
  const { status, text } = await ask(world, params);
  expect([status, status === 200 ? '' : text]).toEqual([200, '']);
  return JSON.parse(text).data;
}

const short = (all: readonly Found[]) =>
  all.map(({ pattern, level, samples }) => [
    pattern,
    level,
    samples.reduce((sum, [, lines]) => sum + lines, 0),
  ]);

/** One line a second from `fromMs` on. */
const jobs = (count: number, fromMs: number, text = 'job NUMBER done'): Line[] =>
  Array.from({ length: count }, (_, i) => [
    fromMs + 1000 * i,
    `${text.replace('NUMBER', `${i}`)} ${FILLING}`,
  ]);

/** Pushes enough lines that compaction writes chunks with sections. */
async function pushMuch(world: World, fromMs: number, lines: readonly Line[]): Promise<void> {
  await push(world, { app: 'a' }, lines);
  for (let i = 0; i < 3; i++)
    await push(world, { app: 'b' }, jobs(500, fromMs + 1000 * i, 'level=error task NUMBER failed'));
}

async function compact({ process }: World): Promise<void> {
  expect((await process.ask('POST', '/flush', {})).status).toBe(204);
  await process.run('compaction');
}

async function chunks({
  process,
  stores,
}: World): Promise<{ footer: Footer; templates: readonly string[] }[]> {
  const ms = stores.clock.nowMs();
  const range = [BigInt(ms - 3 * MS_PER_DAY) * 1_000_000n, BigInt(ms) * 1_000_000n] as const;
  const records = await chunksOf(process.catalog, 'acme', ...range);
  return Promise.all(
    records.map(async record => {
      const footer = await readFooter(stores.store, record);
      return { footer, templates: (await readPatterns(stores.store, record, footer))?.templates ?? [] };
    }),
  );
}

const FROM = START_MS - MS_PER_HOUR;

test('disabled: 404 without a body, which Drilldown understands', async () => {
  for (const enabled of [false, true]) {
    const world = start({ enabled });
    const { status, text } = await ask(world);
    expect([status, text]).toEqual(enabled ? [200, '{"status":"success","data":[]}'] : [404, '']);
    const limits = await ask(world, {}, '/loki/api/v1/drilldown-limits');
    expect(JSON.parse(limits.text).pattern_ingester_enabled).toBe(enabled);
  }
});

test('answers under both roots, by GET and form, and has errors for bad requests', async () => {
  const world = start();
  await push(world, { app: 'a' }, jobs(40, FROM));
  const { text } = await ask(world);
  expect(text).toContain('"pattern":"job \\u003c_\\u003e done');
  expect((await ask(world, {}, '/svc/api/v1/patterns')).text).toBe(text);
  const body = new URLSearchParams({
    query: '{app="a"}',
    start: `${START_MS / 1000 - 7200}`,
    step: '1h',
  }).toString();
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const answer = await world.process.ask('POST', '/loki/api/v1/patterns', {
    headers: { ...headers, ...type },
    body: Buffer.from(body),
  });
  expect(Buffer.from(answer.body).toString()).toBe(text);
  const refused: Record<string, string>[] = [
    { query: '' },
    { query: '{' },
    { query: '{app=~".*"}' },
    { query: '1' },
    { query: '{app="a"} |= "x"' },
    { query: '{app="a"} | json' },
    { query: 'rate({app="a"}[5m])' },
    { step: '0' },
    { start: 'x' },
  ];
  for (const params of refused) expect([params, (await ask(world, params)).status]).toEqual([params, 400]);
  expect((await world.process.ask('GET', '/loki/api/v1/patterns', {})).status).toBe(401);
});

test.each([
  ['{app="a"} |= "x"', 'only label matchers are supported'],
  ['rate({app="a"}[5m])', 'only label matchers are supported'],
  ['{app="a"', 'parse error at line 1, col 9: syntax error: unexpected $end, expecting } or ,'],
])('%s is refused: %s', async (query, message) => {
  const world = start();
  expect(await ask(world, { query })).toEqual({ status: 400, text: message });
  // The same for any other parameters.
  expect(await ask(world, { query, start: FROM / 1000, end: FROM / 1000 - 60 })).toEqual({
    status: 400,
    text: message,
  });
});

test('a start after the end is an empty range, as in the reference', async () => {
  const world = start();
  await push(world, { app: 'a' }, jobs(40, FROM));
  const empty = { status: 200, text: '{"status":"success","data":[]}' };
  const reversed = { start: START_MS / 1000, end: START_MS / 1000 - 7200 };
  expect(await ask(world, reversed)).toEqual(empty);
  expect(await ask(world, { ...reversed, step: '1m' })).toEqual(empty);
  expect((await ask(world, { ...reversed, step: '0' })).status).toBe(400);
});

test('samples are on steps, by level; patterns with fewer than 30 lines are omitted', async () => {
  const world = start();
  await push(world, { app: 'a' }, jobs(120, FROM, 'level=error job NUMBER failed'));
  await push(world, { app: 'a', pod: '1' }, jobs(60, FROM + 600_000, 'level=info job NUMBER done'));
  await push(world, { app: 'a' }, jobs(29, FROM, 'rare thing NUMBER'));
  await push(world, { app: 'c' }, jobs(50, FROM, 'of another NUMBER'));
  const all = await found(world, { step: '1m' });
  expect(all.map(({ pattern, level }) => [pattern, level])).toEqual([
    [`level=error job <_> failed ${FILLING}`, 'error'],
    [`level=info job <_> done ${FILLING}`, 'info'],
  ]);
  expect(all[0].samples).toEqual([
    [FROM / 1000, 60],
    [FROM / 1000 + 60, 60],
  ]);
  const cut = await found(world, { start: FROM / 1000 + 30, end: FROM / 1000 + 90 });
  expect(short(cut)).toEqual([[`level=error job <_> failed ${FILLING}`, 'error', 60]]);
  const several = { ...headers, 'x-scope-orgid': 'a|b' };
  expect((await world.process.ask('GET', '/loki/api/v1/patterns', { headers: several })).status).toBe(400);
});

describe('compaction', () => {
  test('stores mined patterns with equal results, and stores nothing if disabled', async () => {
    const world = start();
    await pushMuch(world, FROM, jobs(300, FROM));
    const before = await found(world);
    expect(short(before)).toEqual([[`job <_> done ${FILLING}`, 'unknown', 300]]);
    await compact(world);
    expect((await chunks(world)).map(({ templates }) => templates.length)).toEqual([2]);
    expect(await found(world)).toEqual(before);
    expect(short(await found(world, { query: '{app=~".+"}' }))).toEqual([
      [`level=error task <_> failed ${FILLING}`, 'error', 1500],
      [`job <_> done ${FILLING}`, 'unknown', 300],
    ]);
    const off = start({ enabled: false });
    await pushMuch(off, FROM, jobs(300, FROM));
    await compact(off);
    const [{ footer }] = await chunks(off);
    expect(footer.sections.some(({ kind }) => kind === SectionKind.patterns)).toBe(false);
  });

  test('stored patterns are returned without reading a line, over days', async () => {
    const world = start();
    for (const day of [2, 1]) {
      const from = START_MS - day * MS_PER_DAY;
      await pushMuch(world, from, jobs(200, from));
    }
    await compact(world);
    const start_ = START_MS / 1000 - 3 * 86_400;
    expect(short(await found(world, { start: start_ }))).toEqual([
      [`job <_> done ${FILLING}`, 'unknown', 400],
    ]);
    const reads: string[] = [];
    const { store } = world.stores;
    const { getRange } = store;
    store.getRange = (key, from, to) => {
      reads.push(key);
      return getRange(key, from, to);
    };
    await found(world, { start: start_ });
    // Everything is cached: a line would be read again.
    expect(reads).toEqual([]);
  });
});

describe('hidden entries', () => {
  const secret = (n: number, from: number) => jobs(n, from, 'token sesame of NUMBER');

  test('an entry hidden by a delete request is in no pattern, and in none that is stored once it is gone', async () => {
    const world = start();
    await pushMuch(world, FROM, [...jobs(300, FROM), ...secret(100, FROM + 500)]);
    await compact(world);
    const shown = async () => JSON.stringify(await found(world));
    expect(await shown()).toContain('sesame');
    const asked = await world.process.ask('POST', '/loki/api/v1/delete', {
      headers,
      rawQuery: new URLSearchParams({
        query: '{app="a"} |= "sesame"',
        start: `${FROM / 1000 - 60}`,
      }).toString(),
    });
    expect(asked.status).toBe(204);
    world.stores.clock.advance(60_000);
    expect(await shown()).not.toContain('sesame');
    expect(short(await found(world))).toEqual([[`job <_> done ${FILLING}`, 'unknown', 300]]);
    for (let i = 0; i < 4; i++) {
      world.stores.clock.advance(MS_PER_DAY + MS_PER_HOUR);
      await world.process.run('deletion');
    }
    const stored = await storedTemplates(world, 8);
    expect(stored.length).toBeGreaterThan(0);
    expect(JSON.stringify(stored)).toContain('job');
    expect(JSON.stringify(stored)).not.toContain('sesame');
    expect(short(await found(world))).toEqual([[`job <_> done ${FILLING}`, 'unknown', 300]]);
  });

  async function storedTemplates({ process, stores }: World, days: number): Promise<readonly string[]> {
    const ms = stores.clock.nowMs();
    const records = await chunksOf(
      process.catalog,
      'acme',
      BigInt(ms - days * MS_PER_DAY) * 1_000_000n,
      BigInt(ms) * 1_000_000n,
    );
    const all = await Promise.all(
      records.map(async record => readPatterns(stores.store, record, await readFooter(stores.store, record))),
    );
    return all.flatMap(section => section?.templates ?? []);
  }

  test('entries that retention hides are in no pattern', async () => {
    const world = start({ limits: { retentionPeriodNs: BigInt(MS_PER_DAY) * 1_000_000n } });
    await pushMuch(world, FROM, [...secret(100, FROM), ...jobs(300, FROM + 1_200_000)]);
    await compact(world);
    world.stores.clock.advance(MS_PER_DAY - MS_PER_HOUR + 600_000);
    const all = await found(world, { start: START_MS / 1000 - 7200 });
    expect(short(all)).toEqual([[`job <_> done ${FILLING}`, 'unknown', 300]]);
  });
});
