/**
 * Names that try to be other keys. For any name of a tenant, label, rule or request: it is refused, or the
 * data is written under its name, and the data of another tenant is unchanged.
 */
import { beforeAll, describe, expect, test } from '@jest/globals';
import { ROUTES } from '../../shared/server/http/route-table.ts';
import { requestsOf } from './calls.ts';
import { NOW_MS, startWorld, type World, type WrittenKey } from './world.ts';

const VICTIM = 'victim';
/** The reference's, for names of namespaces. */
const TRAVERSAL = 'path traversal not allowed';
const RULER = 'no valid org id found';
const LONG = 'x'.repeat(5000);
/** Names as in headers, one character for each byte. */
const NAMES = [
  '..',
  '.',
  '../victim',
  '..%2fvictim',
  '%2e%2e/victim',
  'victim/',
  '/victim',
  './victim',
  'victim/20605',
  'c/victim',
  'victim\0',
  'victim\n',
  'victim ',
  ' victim',
  'victim:',
  'victim#x',
  'vict\u00edm',
  Buffer.from('v\u0456ctim').toString('latin1'),
  '\uff0e\uff0e',
  'VICTIM',
  'victim.',
  "victim'",
  'victim*',
  '(victim)',
  '__proto__',
  'constructor',
  'toString',
  'tokens',
  'total',
  'a'.repeat(150),
  LONG,
];

/** Key of requests that concern the whole store. */
const OF_ALL = 'y/flush state';

/**
 * True if a key begins with the prefix of the tenant: `<kind>/<tenant>` and its end or another part, or in
 * partitions that all tenants share (`<kind>/<shard>`) the sort key with the tenant.
 */
function isOf(tenant: string, { key }: WrittenKey): boolean {
  const [, rest] = /^(?:l\/day\/|\w+\/(?:\d+ )?)(.*)$/s.exec(key) ?? [];
  return (
    rest === tenant || rest?.startsWith(`${tenant}/`) === true || rest?.startsWith(`${tenant} `) === true
  );
}

async function bring(world: World, tenant: string, word: string) {
  const answers = [];
  for (const route of ROUTES) {
    if (/shutdown|downscale|tokens|auth\//.test(route.path)) continue;
    for (const { method, path, given } of requestsOf(route, word, tenant)) {
      answers.push(await world.send(method, path, given));
    }
  }
  return answers;
}

async function shownTo(world: World, tenant: string): Promise<string> {
  const texts: string[] = [];
  for (const path of ['query_range', 'labels', 'rules', 'delete', 'series']) {
    const rawQuery =
      path === 'query_range' || path === 'labels' || path === 'series'
        ? new URLSearchParams({
            query: '{app=~".+"}',
            start: `${NOW_MS / 1000 - 3600}`,
            end: `${NOW_MS / 1000 + 60}`,
          }).toString()
        : '';
    const { text } = await world.send('GET', `/svc/api/v1/${path}`, {
      rawQuery,
      headers: { 'x-scope-orgid': tenant },
    });
    texts.push(text.replace(/"stats":.*/s, ''));
  }
  return texts.join('\n');
}

let world: World;
let before: string;
beforeAll(async () => {
  world = startWorld();
  await bring(world, VICTIM, 'word');
  await world.run('compaction');
  before = await shownTo(world, VICTIM);
});

describe('names of tenants', () => {
  test.each(NAMES.map(name => [JSON.stringify(name).slice(0, 40), name]))('%s', async (_, name) => {
    world.written.length = 0;
    const answers = await bring(world, name, 'word');
    // The words of the reference's ruler for any invalid name.
    expect(answers.filter(({ status, text }) => status >= 500 && !text.includes(RULER))).toEqual([]);
    const strange = world.written.filter(key => !isOf(name, key));
    expect(strange.filter(({ key }) => key !== OF_ALL)).toEqual([]);
    // A name is refused by all endpoints that need a tenant, or by none of them.
    const refused = answers.filter(({ status }) => status === 400 || status === 401).length;
    expect(refused > 60).toBe(!world.written.some(key => isOf(name, key)));
    expect(await shownTo(world, VICTIM)).toBe(before);
  });
});

describe('names that a tenant gives', () => {
  const TENANT = 'x';
  const WORDS = [
    '..',
    '../victim',
    '..%2f..%2fvictim',
    'victim/word',
    'a\0b',
    'a|b',
    'a\nb',
    '\u{1f600}',
    'v\u0456ctim',
    '__proto__',
    'constructor',
    '{victim}',
    '#',
    '%',
    '%zz',
    'y'.repeat(3000),
  ];

  const send = (
    method: string,
    path: string,
    given: { body?: string; params?: Record<string, string> } = {},
  ) =>
    world.send(method, `/loki/api/v1/${path}`, {
      headers: { 'x-scope-orgid': TENANT, 'content-type': 'application/json' },
      rawQuery: new URLSearchParams(given.params ?? {}).toString(),
      body: Buffer.from(given.body ?? ''),
    });

  test.each(WORDS.map(word => [JSON.stringify(word).slice(0, 40), word]))('%s', async (_, word) => {
    world.written.length = 0;
    const name = encodeURIComponent(word);
    const values = [[`${NOW_MS}000000`, word, { [word]: word }]];
    const streams = [{ stream: { app: 'x', [word]: word, value: word }, values }];
    const statuses = [
      await send('POST', 'push', { body: JSON.stringify({ streams }) }),
      await send('POST', `rules/${name}`, {
        body: `${JSON.stringify({ name: word, rules: [{ record: 'r', expr: 'vector(1)' }] })}\n`,
      }),
      await send('GET', `rules/${name}/${name}`),
      await send('GET', `rules/..%2f${name}/${name}`),
      await send('DELETE', `rules/${name}/${name}`),
      await send('DELETE', `rules/..%2fvictim/${name}`),
      await send('GET', `label/${name}/values`),
      await send('GET', `detected_field/${name}/values`, { params: { query: '{app="x"}' } }),
      await send('POST', 'delete', {
        params: { query: `{app=${JSON.stringify(word)}}`, start: '1', end: '2' },
      }),
      await send('DELETE', 'delete', { params: { request_id: word } }),
      await send('GET', 'delete', { params: { request_id: word } }),
      await send('GET', 'query_range', { params: { query: `{app=${JSON.stringify(word)}}` } }),
      await world.send('POST', '/aws/firehose', {
        headers: {
          'x-scope-orgid': TENANT,
          'x-amz-firehose-request-id': Buffer.from(word).toString('latin1'),
        },
        body: Buffer.from(JSON.stringify({ requestId: word, timestamp: 1, records: [{ data: 'eA==' }] })),
      }),
      await world.send('POST', `/${name}/_bulk`, {
        headers: { 'x-scope-orgid': TENANT },
        body: Buffer.from(
          `${JSON.stringify({ create: { _index: word } })}\n${JSON.stringify({ message: word })}\n`,
        ),
      }),
    ].filter(({ status, text }) => status >= 500 && !text.includes(TRAVERSAL));
    expect([statuses, world.logged]).toEqual([[], []]);
    expect(world.written.filter(key => !isOf(TENANT, key))).toEqual([]);
    expect(await shownTo(world, VICTIM)).toBe(before);
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test('pairs of names that join to the same text are two', async () => {
    const pairs = [
      ['a/b', 'c'],
      ['a', 'b/c'],
      ['a ', 'b'],
      ['a', ' b'],
      ['a\u0001', 'b'],
    ];
    for (const [namespace, group] of pairs) {
      const body = JSON.stringify({ name: group, rules: [{ record: 'r', expr: 'vector(1)' }] });
      const { status } = await send('POST', `rules/${encodeURIComponent(namespace)}`, { body });
      if (status !== 202) throw new Error(`${JSON.stringify([namespace, group])}: ${status}`);
    }
    const { text } = await world.send('GET', '/compat/api/v1/rules', {
      headers: { 'x-scope-orgid': TENANT },
    });
    const { groups } = JSON.parse(text).data as { groups: { name: string; file: string }[] };
    const seen = groups.map(({ file, name }) => [file, name]);
    for (const pair of pairs) expect(seen).toContainEqual(pair);
  });
});
