/** `logboom rules` as a person types it, against a store over HTTP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { listGroups, putGroup } from '../../bin/cli/rule-groups-client.ts';
import { removeGroup } from '../../bin/cli/rules-client.ts';
import { type Gateway, startGateway } from '../../local/gateway.ts';
import { createLog } from '../../shared/base/runtime/log.ts';
import type { RuleGroup } from '../../shared/storage/catalog/rule-group.ts';
import { testStores } from '../maintenance/store.ts';
import { startRecordingStore } from './recording-store.ts';
import { logboom } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return join(folder, name);
}

let store: Gateway;
const asked: string[] = [];
beforeEach(async () => {
  const { ask } = testStores().process(1);
  asked.length = 0;
  store = await startGateway({
    host: '127.0.0.1',
    port: 0,
    dispatch: request => {
      asked.push(`${request.method} ${request.path}`);
      return ask(request.method, request.path, request);
    },
    limits: {
      ofRequest: () => ({ cost: 'light', maxBodyBytes: 1_000_000, deadlineMs: 0 }),
      maxConcurrentRequests: 10,
      maxBufferedBodyBytes: 10_000_000,
      readTimeoutMs: 60_000,
      writeTimeoutMs: 60_000,
      idleTimeoutMs: 60_000,
      drainTimeoutMs: 1000,
    },
    log: createLog('silent'),
  });
});
afterEach(() => store.stop());

const rules = (...args: string[]) =>
  logboom(['rules', ...args], { env: { LOGBOOM_ADDR: store.url, LOGBOOM_TENANT: 'acme' } });
const flags = () => ({ addr: new URL(store.url), tenant: 'acme' });

const SHOP = `namespace: shop
groups:
  - {name: a, rules: [{record: r, expr: '1'}]}
  - {name: b, rules: [{record: r, expr: '2'}]}
`;

test('rule groups are loaded, compared, listed and deleted', async () => {
  const [shop, web] = [file('shop.yaml', SHOP), file('web.yaml', SHOP.replace('namespace: shop\n', ''))];
  expect(await rules('load', shop, web)).toEqual({
    code: 0,
    stdout: '+ shop/a\n+ shop/b\n+ web/a\n+ web/b\n4 added, 0 changed, 0 removed\n',
    stderr: '',
  });
  expect((await rules('diff', shop, web, '--prune')).stdout).toBe('no changes\n');
  const changed = file('changed.yaml', SHOP.replace("'2'", "'3'").replace(/.*name: a.*\n/, ''));
  expect(await rules('diff', changed, '--prune')).toEqual({
    code: 0,
    stdout: `~ shop/b
    -       expr: "2"
    +       expr: "3"
- shop/a
    - name: a
    - rules:
    -     - record: r
    -       expr: "1"
0 added, 1 changed, 1 removed
`,
    stderr: '',
  });
  expect((await rules('load', changed, '--prune')).stdout).toBe(
    '~ shop/b\n- shop/a\n0 added, 1 changed, 1 removed\n',
  );
  expect(await rules('delete', 'web')).toEqual({ code: 0, stdout: '- web\n', stderr: '' });
  const listed = 'shop:\n    - name: b\n      rules:\n          - record: r\n            expr: "3"\n';
  expect(await rules('list')).toEqual({ code: 0, stdout: listed, stderr: '' });
});

test('lint reports every problem of every file with its line, without a store', async () => {
  const good = file('good.yaml', SHOP);
  const bad = file('bad.yaml', 'groups:\n  - name: g\n    rules:\n      - {alert: x, fro: 1m}\n');
  const worse = file('worse.yaml', 'groups: {');
  expect(await logboom(['rules', 'lint', good])).toEqual({
    code: 0,
    stdout: '2 groups, no problems\n',
    stderr: '',
  });
  const { code, stdout, stderr } = await logboom(['rules', 'lint', good, bad, worse]);
  expect([code, stderr]).toEqual([1, 'logboom: 2 problems\n']);
  expect(stdout).toMatch(/^\S+bad\.yaml:4: unknown field 'fro' of a rule\n\S+worse\.yaml:1: .+\n$/);
});

test('nothing is loaded if a file has a problem, or two files have the same group', async () => {
  const twice = file('twice.yaml', SHOP);
  const bad = file('broken.yaml', 'groups: [{name: g, rules: [{}]}]');
  const { code, stdout, stderr } = await rules('load', file('shop.yaml', SHOP), twice, bad);
  expect([code, stdout]).toEqual([1, '']);
  expect(stderr.split('\n').map(line => line.replace(`${folder}/`, ''))).toEqual([
    "logboom: broken.yaml:1: one of 'record' or 'alert' must be set",
    "twice.yaml:1: group 'a' of namespace 'shop' is also in another file",
    "twice.yaml:1: group 'b' of namespace 'shop' is also in another file",
    '',
  ]);
  expect(asked).toEqual([]);
});

describe('client of rules', () => {
  const group = (name: string): RuleGroup => ({
    name,
    intervalNs: 0n,
    limit: 0,
    queryOffsetNs: 0n,
    rules: [{ kind: 'recording', record: 'r', expr: '1', labels: { a: '1.0' } }],
  });

  test.each(['a/b', 'a b+c', '50%', '%2e%2e', '...', '.hidden', 'é😀', 'x?y#z', 'a\\b', '__proto__', '12'])(
    'name %s',
    async name => {
      await putGroup(flags(), name, group(name));
      await putGroup(flags(), name, group('another'));
      await putGroup(flags(), 'other', group(name));
      await removeGroup(flags(), name, 'another');
      const left = [
        [name, [group(name)]],
        ['other', [group(name)]],
      ] as const;
      expect(await listGroups(flags())).toEqual(new Map(left));
      await removeGroup(flags(), name);
      expect(await listGroups(flags())).toEqual(new Map(left.slice(1)));
      await removeGroup(flags(), 'other', name);
      expect(await listGroups(flags())).toEqual(new Map());
    },
  );

  test.each(['', '.', '..'])(
    'does not request a group %j, because the request would name its namespace',
    async name => {
      await expect(removeGroup(flags(), 'ns', name)).rejects.toThrow(
        `'${name}' is not a valid name of a namespace or group`,
      );
      await expect(putGroup(flags(), name, group('a'))).rejects.toThrow('is not a valid name');
      expect(asked).toEqual([]);
    },
  );

  test('reports refusals and unknown responses of a store', async () => {
    await expect(removeGroup(flags(), 'no', 'group')).rejects.toThrow('404 Not Found: group does not exist');
    await expect(removeGroup(flags(), 'no')).rejects.toThrow('404 Not Found: group namespace does not exist');
    const other = await startRecordingStore(() => ({ status: 200, body: '- a' }));
    try {
      await expect(listGroups({ addr: new URL(other.url) })).rejects.toThrow(
        'cannot read the rules of the store: unable to decoded rule group',
      );
      const listed = await logboom(['rules', 'list', '--addr', other.url]);
      expect([listed.code, listed.stdout]).toEqual([1, '']);
      expect(listed.stderr).toContain('unexpected response, not YAML');
    } finally {
      await other.stop();
    }
  });
});

describe('rules test', () => {
  const tests = (value: number) => `rule_files: [rules.yaml]
tests:
  - name: counts
    input: [{stream: {app: x}, entries: [{every: 10s x 6, line: a}]}]
    samples: [{at: 1m, record: r, expect: [{value: ${value}}]}]
`;
  const expr = 'sum(count_over_time({app="x"}[1m]))';

  test('reads rule files next to the test file, and exits with 1 if a test fails', async () => {
    file('rules.yaml', `groups: [{name: g, rules: [{record: r, expr: '${expr}'}]}]`);
    const [good, bad] = [file('good.test.yaml', tests(5)), file('bad.test.yaml', tests(6))];
    const outcome = await logboom(['rules', 'test', good, bad]);
    expect(outcome).toEqual({
      code: 1,
      stdout: `PASS ${good}: counts\nFAIL ${bad}: counts\n  record r at 1m\n    - {} 6\n    + {} 5\n`,
      stderr: 'logboom: 1 of 2 tests failed (- expected, + found)\n',
    });
  });

  test('queries a store in a dry run', async () => {
    const rule = file(
      'dry.yaml',
      `groups: [{name: g, rules: [{record: r, expr: '${expr}'}, {alert: a, expr: '1'}]}]`,
    );
    const range = ['--from', '2026-06-01T00:00:00Z', '--to', '2026-06-01T00:04:59Z'];
    expect(await rules('test', '--dry-run', rule, ...range)).toEqual({
      code: 0,
      stdout: `dry/g: 5 evaluations, one every 1m
  2026-06-01T00:00:00.000Z firing     a {} value 1
  record r: 0 samples of 0 series
  alert a: pending 0 times, firing once
`,
      stderr: '',
    });
    expect(new Set(asked)).toEqual(new Set(['GET /loki/api/v1/query_range']));
    expect(await logboom(['rules', 'test', '--dry-run', rule, '--addr', 'localhost:1'])).toMatchObject({
      code: 3,
      stderr: expect.stringMatching(/^logboom: cannot reach the store at http:\/\/localhost:1 /),
    });
  });
});
