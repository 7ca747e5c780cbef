/**
 * Random operations of two tenants alternately, with the same words, against a model without the other
 * tenant: after each operation a tenant sees only the effects of its operations.
 */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NOW_MS, startWorld, type World } from './world.ts';

const TENANTS = ['ab', 'a'] as const;
type Tenant = (typeof TENANTS)[number];

/** Data of a tenant. */
interface Model {
  /** `label line`, each once. */
  readonly lines: Set<string>;
  readonly groups: Set<string>;
  deletes: number;
  /** Words whose lines are taken back, those that come later included: no request is carried out here. */
  readonly hidden: Set<string>;
}

type Operation = readonly [tenant: Tenant, kind: (typeof KINDS)[number], word: string];

const KINDS = ['push', 'rule', 'drop rule', 'delete', 'compact', 'generation', 'time', 'look'] as const;
/** Names that are part of each other, and of keys. */
const WORDS = ['a', 'ab', 'a/b', 'rules', '__proto__'];

const newModel = (): Model => ({ lines: new Set(), groups: new Set(), deletes: 0, hidden: new Set() });

const operations = fc.array(
  fc.tuple(
    fc.constantFrom(...TENANTS),
    fc.constantFrom(...KINDS, 'push' as const),
    fc.constantFrom(...WORDS),
  ),
  { minLength: 4, maxLength: 14 },
);

function ask(world: World, tenant: Tenant) {
  return async (
    method: string,
    path: string,
    { body = '', params = {} }: { body?: string; params?: Record<string, string> } = {},
  ) =>
    world.send(method, `/loki/api/v1/${path}`, {
      headers: { 'x-scope-orgid': tenant, 'content-type': 'application/json' },
      rawQuery: new URLSearchParams(params).toString(),
      body: Buffer.from(body),
    });
}

/** Statuses that the operation may end with; the model changes if it succeeded. */
async function operate(world: World, model: Model, [tenant, kind, word]: Operation): Promise<void> {
  const send = ask(world, tenant);
  const encoded = encodeURIComponent(word);
  switch (kind) {
    case 'push': {
      const values = [[`${NOW_MS - 30_000}000000`, word, { meta: tenant }]];
      const body = JSON.stringify({ streams: [{ stream: { app: 'x', word }, values }] });
      expect((await send('POST', 'push', { body })).status).toBe(204);
      model.lines.add(`${word} ${word}`);
      return;
    }
    case 'rule': {
      const body = `name: '${word}'\nrules:\n  - record: r\n    expr: 'sum(rate({app="x"}[1m]))'\n`;
      expect((await send('POST', `rules/${encoded}`, { body })).status).toBe(202);
      model.groups.add(word);
      return;
    }
    case 'drop rule': {
      const had = model.groups.delete(word);
      // Only a read shows whether it existed.
      expect((await send('GET', `rules/${encoded}/${encoded}`)).status).toBe(had ? 200 : 404);
      expect((await send('DELETE', `rules/${encoded}/${encoded}`)).status).toBe(202);
      expect((await send('GET', `rules/${encoded}/${encoded}`)).status).toBe(404);
      return;
    }
    case 'delete': {
      const params = {
        query: `{app="x", word="${word}"}`,
        start: '1600000000',
        end: `${NOW_MS / 1000 - 10}`,
      };
      const { status, text } = await send('POST', 'delete', { params });
      expect([status, text]).toEqual([204, '']);
      model.deletes++;
      model.hidden.add(word);
      return;
    }
    case 'compact':
      return world.run('compaction');
    case 'generation':
      await send('POST', 'cache/generation_numbers/increase');
      return;
    case 'time':
      return world.pass(20_000);
    case 'look':
      return;
  }
}

async function look(world: World, model: Model, tenant: Tenant): Promise<void> {
  const send = ask(world, tenant);
  const json = async (path: string, params: Record<string, string> = {}) => {
    const { status, text } = await send('GET', path, { params });
    expect([path, status, status === 200 ? '' : text]).toEqual([path, 200, '']);
    return JSON.parse(text);
  };
  const range = { start: `${NOW_MS / 1000 - 60}`, end: `${NOW_MS / 1000 + 60}` };
  const { result } = (await json('query_range', { ...range, query: '{app="x"}' })).data as {
    result: { stream: Record<string, string>; values: [string, string][] }[];
  };
  const seen = result.flatMap(({ stream, values }) => values.map(([, line]) => `${stream.word} ${line}`));
  const shown = [...model.lines].filter(line => !model.hidden.has(line.split(' ')[0]));
  expect(seen.sort()).toEqual(shown.sort());
  expect(new Set(result.map(({ stream }) => stream.meta))).toEqual(new Set(seen.length > 0 ? [tenant] : []));
  const words = (await json('label/word/values', range)).data ?? [];
  expect([...words].sort()).toEqual([...model.lines].map(line => line.split(' ')[0]).sort());
  const rules = await send('GET', 'rules');
  const named = [...rules.text.matchAll(/- name: (.*)/g)].map(([, name]) => name.replaceAll(/['"]/g, ''));
  expect(named.sort()).toEqual([...model.groups].sort());
  expect((await json('delete')).length).toBe(model.deletes);
}

test('each tenant sees only its own changes', async () => {
  await fc.assert(
    fc.asyncProperty(operations, async steps => {
      const world = startWorld();
      const models = { ab: newModel(), a: newModel() };
      for (const step of steps) {
        await operate(world, models[step[0]], step);
        // Both: the tenant that did nothing sees no change.
        for (const tenant of TENANTS) await look(world, models[tenant], tenant);
      }
      expect(world.logged).toEqual([]);
    }),
    { numRuns: 10 },
  );
});
