/** API for rule groups (docs/dev/wire-format.md#rules, #lokitool). */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { parse as parseYaml } from 'yaml';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { type TestProcess, testStores } from '../maintenance/store.ts';

const ACME = { 'x-scope-orgid': 'acme' };
const ROOT = '/loki/api/v1/rules';

let process: TestProcess;
function start(config: Partial<Config> = {}): void {
  process = testStores({}, config).process(1);
}
beforeEach(() => start());

async function ask(method: string, path: string, body = '', headers: Record<string, string> = ACME) {
  const [onlyPath, rawQuery = ''] = path.split('?');
  const answer = await process.ask(method, onlyPath, { rawQuery, headers, body: Buffer.from(body) });
  return { ...answer, text: Buffer.from(answer.body).toString() };
}

async function shown(...request: Parameters<typeof ask>): Promise<[number, string]> {
  const { status, text } = await ask(...request);
  return [status, text];
}

const DONE: [number, string] = [202, '{"status":"success","data":null,"errorType":"","error":""}'];
const GROUP = `
name: g
interval: 5m
limit: 3
rules:
  - alert: Slow
    expr: sum(rate({app="x"} |= "slow" [1m])) by (pod) > 1
    for: 90s
    keep_firing_for: 1h
    labels: { severity: 1.0 }
    annotations: { summary: '{{ $labels.pod }} has {{ $value }}' }
  - record: app:lines
    expr: |
      sum(count_over_time({app="x"}[1m]))
    labels: { team: a }
`;
const KEPT = {
  name: 'g',
  interval: '5m',
  limit: 3,
  rules: [
    {
      alert: 'Slow',
      expr: 'sum(rate({app="x"} |= "slow" [1m])) by (pod) > 1',
      for: '1m30s',
      keep_firing_for: '1h',
      labels: { severity: '1.0' },
      annotations: { summary: '{{ $labels.pod }} has {{ $value }}' },
    },
    { record: 'app:lines', expr: 'sum(count_over_time({app="x"}[1m]))\n', labels: { team: 'a' } },
  ],
};

function plain(name: string, expr = 'vector(1)'): string {
  return `{name: ${JSON.stringify(name)}, rules: [{record: a, expr: '${expr}'}]}`;
}

describe('rule group requests', () => {
  test.each([ROOT, '/svc/api/v1/rules', '/api/prom/rules', '/api/compat/rules'])(
    '%s: the sequence of lokitool works',
    async root => {
      expect(await shown('GET', root)).toEqual([404, 'no rule groups found\n']);
      expect(await shown('POST', `${root}/ns`, GROUP)).toEqual(DONE);
      const one = await ask('GET', `${root}/ns/g`);
      expect([one.status, one.headers['content-type']]).toEqual([200, 'application/yaml']);
      expect(parseYaml(one.text)).toEqual(KEPT);
      expect(parseYaml((await ask('GET', `${root}/ns`)).text)).toEqual({ ns: [KEPT] });
      expect(await shown('POST', `${root}/ns`, plain('g'))).toEqual(DONE);
      expect(await shown('POST', `${root}/ns`, plain('f'))).toEqual(DONE);
      expect(await shown('POST', `${root}/another`, plain('f'))).toEqual(DONE);
      const f = { name: 'f', rules: [{ record: 'a', expr: 'vector(1)' }] };
      expect(parseYaml((await ask('GET', root)).text)).toEqual({
        another: [f],
        ns: [f, { ...f, name: 'g' }],
      });
      expect(await shown('DELETE', `${root}/ns/g`)).toEqual(DONE);
      // Deleted means deleted, as in the reference.
      expect(await shown('DELETE', `${root}/ns/g`)).toEqual(DONE);
      expect(await shown('DELETE', `${root}/never/was`)).toEqual(DONE);
      expect(await shown('GET', `${root}/ns/g`)).toEqual([404, 'group does not exist\n']);
      expect(await shown('DELETE', `${root}/ns`)).toEqual(DONE);
      expect(await shown('DELETE', `${root}/ns`)).toEqual([404, 'group namespace does not exist\n']);
      expect(await shown('GET', `${root}/ns`)).toEqual([404, 'no rule groups found\n']);
      expect(parseYaml((await ask('GET', root)).text)).toEqual({ another: [f] });
    },
  );

  test("return YAML indented by 4, with keys in the reference's order", async () => {
    await ask('POST', `${ROOT}/ns`, GROUP);
    const { text } = await ask('GET', ROOT);
    expect(text.split('\n').slice(0, 5)).toEqual([
      'ns:',
      '    - name: g',
      '      interval: 5m',
      '      limit: 3',
      '      rules:',
    ]);
    expect([...text.matchAll(/^ +(?:- )?(\w+):/gm)].map(([, key]) => key)).toEqual([
      ...['name', 'interval', 'limit', 'rules'],
      ...['alert', 'expr', 'for', 'keep_firing_for', 'labels', 'severity', 'annotations', 'summary'],
      ...['record', 'expr', 'labels', 'team'],
    ]);
  });

  test.each(['a/b', 'ünï cödé', '100%', 'a?b#c', '__proto__', 'constructor', 'a+b', '{x}', ' '])(
    'accept names like %p',
    async name => {
      const path = `${ROOT}/${encodeURIComponent(name)}`;
      expect(await shown('POST', path, plain(name))).toEqual(DONE);
      const group = { name, rules: [{ record: 'a', expr: 'vector(1)' }] };
      expect(parseYaml((await ask('GET', `${path}/${encodeURIComponent(name)}`)).text)).toEqual(group);
      const all = parseYaml((await ask('GET', ROOT)).text, { schema: 'failsafe' }) as object;
      expect(Object.entries(all).map(([key]) => key)).toEqual([name]);
      expect(await shown('DELETE', `${path}/${encodeURIComponent(name)}`)).toEqual(DONE);
    },
  );

  test('filter rules by label: those that have any of them', async () => {
    await ask('POST', `${ROOT}/ns`, GROUP);
    await ask('POST', `${ROOT}/ns`, plain('without'));
    const rulesOf = async (labels: string) => {
      const { text } = await ask('GET', `${ROOT}?labels=${encodeURIComponent(labels)}`);
      return (parseYaml(text) as Record<string, { rules: object[] }[]>).ns?.map(({ rules }) => rules.length);
    };
    expect(await rulesOf('team:a')).toEqual([1]);
    expect(await rulesOf('team:a,severity:1.0')).toEqual([2]);
    expect(await shown('GET', `${ROOT}?labels=team:b`)).toEqual([404, 'no rule groups found\n']);
  });

  test('separate the groups of tenants', async () => {
    await ask('POST', `${ROOT}/ns`, GROUP);
    expect(await shown('GET', ROOT, '', { 'x-scope-orgid': 'b' })).toEqual([404, 'no rule groups found\n']);
    const gone = await shown('DELETE', `${ROOT}/ns/g`, '', { 'x-scope-orgid': 'b' });
    expect(gone).toEqual(DONE);
    expect((await ask('GET', `${ROOT}/ns/g`)).status).toBe(200);
    expect((await ask('GET', ROOT, '', {})).status).toBe(401);
    expect((await ask('GET', ROOT, '', { 'x-scope-orgid': 'a|b' })).status).toBe(400);
  });
});

describe('invalid rule group requests', () => {
  const rule = (text: string) => `{name: g, rules: [{${text}}]}`;
  const expr = "expr: 'vector(1)'";
  test.each([
    ['[', 'unable to decoded rule group'],
    ['- a', 'unable to decoded rule group'],
    ['name: {a: b}', 'unable to decoded rule group'],
    ['name: g\nname: h', 'unable to decoded rule group'],
    ['{name: g, interval: soon}', 'unable to decoded rule group'],
    ['{name: g, limit: many}', 'unable to decoded rule group'],
    ['{name: g, rules: [{record: a, labels: [b]}]}', 'unable to decoded rule group'],
    ['', 'group 0: Groupname must not be empty'],
    [rule(`record: a, alert: b, ${expr}`), "only one of 'record' and 'alert' must be set"],
    [rule(expr), "one of 'record' or 'alert' must be set"],
    [rule('record: a'), "field 'expr' must be set in rule"],
    [
      rule("record: a, expr: '{'"),
      /^could not parse expression for record 'a' in group 'g': parse error at line 1/,
    ],
    [
      rule("alert: a, expr: '{'"),
      /^could not parse expression for alert 'a' in group 'g': parse error at line 1/,
    ],
    [rule(`record: a, ${expr}, annotations: {b: c}`), "invalid field 'annotations' in recording rule"],
    [rule(`record: a, ${expr}, for: 1m`), "invalid field 'for' in recording rule"],
    [rule(`record: a-b, ${expr}`), 'invalid recording rule name: a-b'],
    [rule(`record: a, ${expr}, labels: {b-c: d}`), 'invalid label name: b-c'],
    [rule(`alert: a, ${expr}, labels: {__name__: d}`), 'invalid label name: __name__'],
    [rule(`alert: a, ${expr}, annotations: {b-c: d}`), 'invalid annotation name: b-c'],
    [rule(`alert: a, ${expr}, labels: {b: '{{'}`), /^label "b": template: /],
    [
      rule(`alert: a, ${expr}, annotations: {b: '{{ nothing }}'}`),
      /^annotation "b": template: .*"nothing" not defined/,
    ],
    [
      `{name: '', rules: [{record: a}, {${expr}}]}`,
      "group 0: Groupname must not be empty, field 'expr' must be set in rule, one of 'record' or 'alert' must be set",
    ],
  ])('%j', async (body, message) => {
    const [status, text] = await shown('POST', `${ROOT}/ns`, body);
    expect([status, text.trimEnd()]).toEqual([400, expect.stringMatching(message)]);
    if (typeof message === 'string') expect(text).toBe(`${message}\n`);
    expect((await ask('GET', ROOT)).status).toBe(404);
  });

  test('a log query is accepted and fails only when it is evaluated', async () => {
    expect(await shown('POST', `${ROOT}/ns`, plain('g', '{app="x"}'))).toEqual(DONE);
  });

  test('limits of the tenant apply', async () => {
    const limits = { ...DEFAULT_CONFIG.limits, rulerMaxRulesPerRuleGroup: 1, rulerMaxRuleGroupsPerTenant: 2 };
    start({ limits });
    expect(await shown('POST', `${ROOT}/ns`, GROUP)).toEqual([
      400,
      'per-user rules per rule group limit (limit: 1 actual: 2) exceeded\n',
    ]);
    await ask('POST', `${ROOT}/ns`, plain('a'));
    expect(await shown('POST', `${ROOT}/ns`, plain('b'))).toEqual(DONE);
    // The reference counts a group that is there as one more.
    expect(await shown('POST', `${ROOT}/ns`, plain('b'))).toEqual([
      400,
      'per-user rule groups limit (limit: 2 actual: 3) exceeded\n',
    ]);
  });

  test.each(['..', '../x', '../..', './x', 'x/.', 'x/../../y', 'x\\..'])(
    'names that leave a folder are refused: %p',
    async name => {
      const path = `${ROOT}/${encodeURIComponent(name).replaceAll('.', '%2E')}`;
      const invalid = (what: string) =>
        `{"status":"error","data":null,"errorType":"bad_data","error":"invalid ${what}: path traversal not allowed"}`;
      if (name !== '..') {
        expect(await shown('GET', path)).toEqual([400, invalid('namespace')]);
        expect(await shown('POST', path, plain('g'))).toEqual([400, invalid('namespace')]);
        expect(await shown('DELETE', `${ROOT}/ns/${path.slice(ROOT.length + 1)}`)).toEqual([
          400,
          invalid('groupname'),
        ]);
      }
      expect(await shown('POST', `${ROOT}/ns`, plain(name))).toEqual([400, invalid('groupname')]);
    },
  );

  test('bodies and names beyond their bounds are refused', async () => {
    expect((await ask('POST', `${ROOT}/ns`, `name: ${'x'.repeat(256 * 1024)}`)).status).toBe(413);
    expect((await ask('POST', `${ROOT}/${'n'.repeat(1100)}`, plain('g'))).status).toBe(400);
    expect(await shown('GET', `${ROOT}/ns/${'n'.repeat(1100)}`)).toEqual([404, 'group does not exist\n']);
    const bomb = `a: &a [x, x]\n${'bcdefghij'
      .split('')
      .map((name, i) => `${name}: &${name} [*${'abcdefghij'[i]}, *${'abcdefghij'[i]}]`)
      .join('\n')}`;
    expect(await shown('POST', `${ROOT}/ns`, bomb)).toEqual([400, 'unable to decoded rule group\n']);
    expect((await ask('POST', `${ROOT}/ns`, '['.repeat(20_000))).status).toBe(400);
    const keys = Array.from({ length: 20_000 }, (_, i) => `k${i}: v`).join('\n');
    expect(await shown('POST', `${ROOT}/ns`, `name: g\n${keys}`)).toEqual(DONE);
  });

  test('the API can be disabled', async () => {
    start({ ruler: { ...DEFAULT_CONFIG.ruler, enableApi: false } });
    expect(await shown('GET', ROOT)).toEqual([404, '404 page not found\n']);
    expect((await ask('POST', `${ROOT}/ns`, GROUP)).status).toBe(404);
  });
});

describe('rule status', () => {
  const RULES = '/prometheus/api/v1/rules';

  test('shows rules that were not evaluated yet', async () => {
    await ask('POST', `${ROOT}/ns`, GROUP);
    for (const path of [RULES, '/compat/api/v1/rules']) {
      const { status, text, headers } = await ask('GET', path);
      expect([status, headers['content-type']]).toEqual([200, 'application/json']);
      expect(JSON.parse(text)).toEqual({
        status: 'success',
        errorType: '',
        error: '',
        data: {
          groups: [
            {
              name: 'g',
              file: 'ns',
              interval: 300,
              limit: 3,
              lastEvaluation: '0001-01-01T00:00:00Z',
              evaluationTime: 0,
              rules: [
                {
                  state: 'unknown',
                  name: 'Slow',
                  query: '(sum by (pod)(rate({app="x"} |= "slow"[1m])) > 1)',
                  duration: 90,
                  keepFiringFor: 3600,
                  labels: { severity: '1.0' },
                  annotations: { summary: '{{ $labels.pod }} has {{ $value }}' },
                  alerts: [],
                  health: 'unknown',
                  lastError: '',
                  type: 'alerting',
                  lastEvaluation: '0001-01-01T00:00:00Z',
                  evaluationTime: 0,
                },
                {
                  name: 'app:lines',
                  query: 'sum(count_over_time({app="x"}[1m]))',
                  labels: { team: 'a' },
                  health: 'unknown',
                  lastError: '',
                  type: 'recording',
                  lastEvaluation: '0001-01-01T00:00:00Z',
                  evaluationTime: 0,
                },
              ],
            },
          ],
        },
      });
    }
    expect(JSON.parse((await ask('GET', '/prometheus/api/v1/alerts')).text).data).toEqual({ alerts: [] });
  });

  test('supports filters', async () => {
    await ask('POST', `${ROOT}/ns`, GROUP);
    await ask('POST', `${ROOT}/other`, plain('h'));
    const names = async (query: string) => {
      const { text } = await ask('GET', `${RULES}?${query}`);
      const { groups } = JSON.parse(text).data as { groups: { file: string; rules: { name: string }[] }[] };
      return groups.flatMap(({ file, rules }) => rules.map(({ name }) => `${file}/${name}`));
    };
    expect(await names('')).toEqual(['ns/Slow', 'ns/app:lines', 'other/a']);
    expect(await names('type=ALERT')).toEqual(['ns/Slow']);
    expect(await names('type=record')).toEqual(['ns/app:lines', 'other/a']);
    expect(await names('file=other&file=none')).toEqual(['other/a']);
    expect(await names('rule_group=g')).toEqual(['ns/Slow', 'ns/app:lines']);
    expect(await names('rule_name=a&rule_name=Slow')).toEqual(['ns/Slow', 'other/a']);
    expect(await names('rule_name=none')).toEqual([]);
    const [status, text] = await shown('GET', `${RULES}?type=both`);
    expect([status, JSON.parse(text)]).toEqual([
      400,
      { status: 'error', data: null, errorType: 'bad_data', error: 'not supported value "both"' },
    ]);
  });

  test('is separate per tenant', async () => {
    for (const path of [RULES, '/compat/api/v1/alerts']) {
      const two = await shown('GET', path, '', { 'x-scope-orgid': 'a|b' });
      expect([two[0], JSON.parse(two[1]).error]).toEqual([400, 'too many org ids found']);
      const strange = await shown('GET', path, '', { 'x-scope-orgid': 'a/b' });
      expect([strange[0], JSON.parse(strange[1]).error]).toEqual([500, 'no valid org id found']);
      expect((await ask('GET', path, '', {})).status).toBe(401);
    }
  });
});
