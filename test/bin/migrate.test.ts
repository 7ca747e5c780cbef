/** `logboom migrate loki`, with a second store as the source. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fetchCounts } from '../../bin/cli/migrate/log-source.ts';
import { timeWindows } from '../../bin/cli/migrate/run-migration.ts';
import { coveringSelectors, labelNamesOf, streamKey } from '../../bin/cli/migrate/streams-cover.ts';
import { PartState } from '../../bin/cli/part-state.ts';
import { NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { type ServerProcess, startProcess } from '../end-to-end/support/server-process.ts';
import { startRecordingStore } from './recording-store.ts';
import { logboom } from './run-command.ts';

const CONFIG = `
auth_enabled: true
limits_config: {reject_old_samples: false, ingestion_rate_mb: 1024, ingestion_burst_size_mb: 1024}
`;
const folder = mkdtempSync(join(tmpdir(), 'logboom-migrate-'));
let source: ServerProcess;
let target: ServerProcess;

/** A whole hour, two days ago. */
const START_NS = BigInt(Math.floor(Date.now() / 3_600_000) - 48) * NS_PER_HOUR;

async function push(tenant: string, streams: readonly object[]) {
  const response = await fetch(`${source.url}/loki/api/v1/push`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant },
    body: JSON.stringify({ streams }),
  });
  expect([response.status, await response.text()]).toEqual([204, '']);
}

beforeAll(async () => {
  const config = join(folder, 'config.yaml');
  writeFileSync(config, CONFIG);
  [source, target] = await Promise.all(
    ['source', 'target'].map(name => startProcess(config, join(folder, name))),
  );
  // Entries on the edges of hours, equal times, metadata, and streams without a label in common.
  const values = Array.from({ length: 3000 }, (_, i) => [
    `${START_NS + (BigInt(i) * NS_PER_HOUR) / 1000n}`,
    `line ${i} level=info`,
    i % 3 === 0 ? { trace: `t${i}` } : {},
  ]);
  const same = Array.from({ length: 50 }, (_, i) => [`${START_NS + NS_PER_HOUR}`, `same time ${i}`]);
  await push('shop', [
    { stream: { app: 'shop', env: 'prod' }, values },
    { stream: { job: 'cron' }, values: same },
    { stream: { app: 'other', service_name: 'given' }, values: same },
  ]);
  await push('blog', [{ stream: { app: 'blog' }, values: same }]);
});

afterAll(async () => {
  await Promise.all([source?.end('SIGTERM'), target?.end('SIGTERM')]);
  rmSync(folder, { recursive: true, force: true });
});

const state = join(folder, 'state.jsonl');
const migrate = (...args: string[]) =>
  logboom(['migrate', 'loki', '--from', source.url, '--addr', target.url, '--state', state, ...args]);

async function entriesOf(store: ServerProcess, tenant: string, query: string) {
  const args = [
    'query',
    query,
    '--limit',
    '0',
    '--forward',
    '--since',
    '4d',
    '-o',
    'jsonl',
    '--addr',
    store.url,
  ];
  const { code, stdout } = await logboom([...args, '--tenant', tenant]);
  expect(code).toBe(0);
  return stdout.split('\n').sort();
}

describe('logboom migrate loki', () => {
  test('copies tenants with labels, metadata and timestamps, and continues where it stopped', async () => {
    const args = ['--tenants', 'shop,blog=press', '--since', '4d', '--batch', '700', '--parallel', '3'];
    const first = await migrate(...args);
    expect(first.stdout).toBe(
      'copied 3100 entries of tenant shop; all counts agree\ncopied 50 entries of tenant press; all counts agree\n',
    );
    expect(first.code).toBe(0);
    for (const query of ['{app="shop"}', '{job="cron"}', '{app="other"}'])
      expect(await entriesOf(target, 'shop', query)).toEqual(await entriesOf(source, 'shop', query));
    expect(await entriesOf(target, 'press', '{app="blog"}')).toEqual(
      await entriesOf(source, 'blog', '{app="blog"}'),
    );

    // The last part is lost, and a line of it is half written.
    const text = readFileSync(state, 'utf8').trimEnd();
    const last = text.slice(text.lastIndexOf('\n') + 1);
    truncateSync(state, text.length - last.length + 10);
    const { entries } = JSON.parse(last) as { entries: number };
    const again = await migrate(...args);
    expect(again.stdout).toMatch(
      /^copied 0 entries of tenant shop, 3100 by earlier runs; all counts agree\n/,
    );
    expect(again.stdout).toContain(
      `copied ${entries} entries of tenant press${entries === 50 ? '' : ', 50 by earlier runs'}; all`,
    );
    expect(await entriesOf(target, 'press', '{app="blog"}')).toHaveLength(51);
  });

  test('copies the selected streams and times, and rules', async () => {
    const rules =
      'namespace: n\ngroups: [{name: g, rules: [{record: r, expr: \'sum(rate({app="shop"}[1m]))\'}]}]\n';
    const file = join(folder, 'rules.yaml');
    writeFileSync(file, rules);
    const loaded = await logboom(['rules', 'load', file, '--addr', source.url, '--tenant', 'shop']);
    expect(loaded.code).toBe(0);
    const range = ['--start', `${START_NS + NS_PER_HOUR}`, '--end', `${START_NS + NS_PER_HOUR + 1n}`];
    const some = ['--tenants', 'shop=some', '--selector', '{job="cron"}', '--rules', ...range];
    const copied = await migrate(...some, '--state', join(folder, 'some.jsonl'));
    expect(copied).toMatchObject({
      code: 0,
      stdout: 'copied 1 rule groups of tenant some\ncopied 50 entries of tenant some; all counts agree\n',
    });
    const listed = await logboom(['rules', 'list', '--addr', target.url, '--tenant', 'some']);
    expect(listed.stdout).toContain('name: g');

    const other = await migrate(...some);
    expect(other.code).toBe(1);
    expect(other.stderr).toContain('name another file with --state');
  });

  test('reports streams of which the target has fewer entries', async () => {
    const deaf = await startRecordingStore(({ path }) =>
      path.endsWith('/push')
        ? { status: 204 }
        : { status: 200, body: '{"status":"success","data":{"resultType":"vector","result":[]}}' },
    );
    const file = join(folder, 'deaf.jsonl');
    const args = [
      'migrate',
      'loki',
      '--from',
      source.url,
      '--tenants',
      'blog',
      '--addr',
      deaf.url,
      '--state',
      file,
    ];
    const { code, stdout, stderr } = await logboom([...args, '--since', '4d']);
    await deaf.stop();
    expect(code).toBe(1);
    expect(stderr).toMatch(/missing of tenant blog: \{app="blog"\} from \S+: 0 of 50 entries\n/);
    expect(stdout).toBe('copied 50 entries of tenant blog; 1 parts are incomplete\n');
    expect(
      readFileSync(file, 'utf8')
        .trim()
        .split('\n')
        .filter(line => line.includes('"entries":50')),
    ).toEqual([]);
  });

  test.each([
    [['--tenants', 'a,b=a'], 'given twice'],
    [['--tenants', 'a=b=c'], 'NAME or SOURCE=TARGET'],
    [['--parallel', '1000'], 'The maximum is 64'],
    [['--start', '2026-01-02', '--end', '2026-01-01'], 'must be after its start'],
  ])('refuses %j', async (args, message) => {
    const { code, stderr } = await migrate(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe('parts of a migration', () => {
  test('have selectors that cover each stream once', () => {
    const stream = fc.dictionary(
      fc.constantFrom('app', 'job', 'env', 'service_name'),
      fc.constantFrom('a', 'b'),
      {
        minKeys: 1,
        noNullPrototype: true,
      },
    );
    fc.assert(
      fc.property(fc.array(stream, { minLength: 1, maxLength: 12 }), streams => {
        const matches = (selector: string, labels: Readonly<Record<string, string>>) =>
          [...selector.matchAll(/(\w+)=(~?)"[^"]*"/g)].every(
            ([, name, isThere]) => Object.hasOwn(labels, name) === (isThere === '~'),
          );
        const selectors = coveringSelectors(streams);
        for (const labels of streams) expect(selectors.filter(each => matches(each, labels))).toHaveLength(1);
      }),
    );
  });

  test('have adjacent windows that end at whole hours', () => {
    const ns = fc.bigInt({ min: 0n, max: 100n * NS_PER_HOUR });
    fc.assert(
      fc.property(ns, ns, (a, length) => {
        const windows = timeWindows({ startNs: a, endNs: a + length }, NS_PER_HOUR);
        let at = a;
        for (const { startNs, endNs } of windows) {
          expect(startNs).toBe(at);
          expect(endNs > startNs && (endNs === a + length || endNs % NS_PER_HOUR === 0n)).toBe(true);
          expect(startNs / NS_PER_HOUR).toBe((endNs - 1n) / NS_PER_HOUR);
          at = endNs;
        }
        expect(at).toBe(a + length);
      }),
    );
  });

  test('are counted stream by stream if the store refuses to count all at once', async () => {
    const store = await startRecordingStore(({ params }) =>
      params.get('query')!.startsWith('sum by')
        ? { status: 400, body: 'maximum of series (500) reached for a single query' }
        : {
            status: 200,
            body: JSON.stringify({
              data: {
                resultType: 'vector',
                result: params.get('query')!.includes('app="a"') ? [{ metric: {}, value: [1, '7'] }] : [],
              },
            }),
          },
    );
    const streams: readonly Readonly<Record<string, string>>[] = [{ app: 'a' }, { app: 'b', env: 'x' }];
    const names = labelNamesOf(streams);
    const window = { startNs: 0n, endNs: NS_PER_HOUR };
    const counts = await fetchCounts(
      { addr: new URL(store.url) },
      { selector: '{app=~".+"}', names, window, streams },
    );
    await store.stop();
    expect([...counts]).toEqual([[streamKey(streams[0], names), 7]]);
    expect(store.requests[1].params.get('query')).toBe('sum (count_over_time({app="a", env=""}[3600000ms]))');
    expect(store.requests[1].params.get('time')).toBe(`${NS_PER_HOUR - 1n}`);
  });

  test('refuse a file that is not a state file', () => {
    const file = join(folder, 'else.txt');
    appendFileSync(file, 'a log line\n');
    const scope = { from: 'a', to: 'b', selectors: [] };
    expect(() => PartState.open(file, scope, { startNs: 0n, endNs: 1n })).toThrow('is not a state file');
  });
});
