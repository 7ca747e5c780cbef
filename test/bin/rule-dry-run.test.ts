/** Rules over stored history: the queried ranges, and the reported alerts and samples. */
import { expect, test } from '@jest/globals';
import { CommandError } from '../../bin/cli/command-error.ts';
import type { RangeAnswer, RangeRequest } from '../../bin/cli/range-query.ts';
import { dryRunRules } from '../../bin/cli/rule-tests/dry-run.ts';
import { historyQuery } from '../../bin/cli/rule-tests/history.ts';
import { UnreachableError } from '../../bin/cli/store-client.ts';
import { NS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import { lintRuleFile } from '../../shared/server/rules/lint-file.ts';
import { templateRunner } from '../../shared/server/rules/template/run-template.ts';

const START = 1_767_607_200_000_000_000n; // 2026-01-05T10:00:00Z

interface Outcome {
  readonly text: string;
  readonly broken: number;
  readonly requests: readonly RangeRequest[];
}

/** `answer` gives the value of a series `{app="x"}` at a minute since the start; undefined is none. */
async function run(
  rules: string,
  answer: (minute: number, query: string) => number | undefined,
  { minutes = 10, head = '' } = {},
): Promise<Outcome> {
  const { groups, problems } = lintRuleFile(
    `groups:\n- name: g\n  ${head}\n  rules: ${rules}`,
    () => undefined,
  );
  expect(problems).toEqual([]);
  const requests: RangeRequest[] = [];
  const ask = async (request: RangeRequest): Promise<RangeAnswer> => {
    requests.push(request);
    const samples = [];
    const stepNs = BigInt(request.step!.replace('ms', '')) * 1_000_000n;
    // A store does the same.
    expect(request.startNs % stepNs).toBe(0n);
    for (let timeNs = request.startNs; timeNs <= request.endNs; timeNs += stepNs) {
      const value = answer(Number((timeNs - START) / NS_PER_MINUTE), request.query);
      if (value !== undefined) samples.push({ timeNs, value: String(value) });
    }
    return { kind: 'matrix', series: [{ labels: { app: 'x' }, samples }], warnings: [] };
  };
  const ending = new AbortController();
  const { signal } = ending;
  const lines = dryRunRules(groups[0], {
    namespace: 'ns',
    range: { startNs: START - 1n, endNs: START + BigInt(minutes) * NS_PER_MINUTE },
    intervalNs: NS_PER_MINUTE,
    partsOf: range => ({
      query: historyQuery(ask, range, reason => ending.abort(reason)),
      templates: templateRunner({ externalLabels: {}, externalUrl: '' }),
      signal,
    }),
  });
  let text = '';
  for (;;) {
    const line = await lines.next();
    if (line.done) return { text, broken: line.value, requests };
    text += line.value;
  }
}

test('shows every change of an alert, and the samples', async () => {
  const rules =
    "[{alert: A, expr: '1', for: 2m, labels: {s: p}}, {record: r, expr: '2'}, {alert: B, expr: '3'}]";
  const { text, broken, requests } = await run(rules, (minute, query) => {
    if (query === '1') return [1, 4, 5, 6, 7, 9].includes(minute) ? minute : undefined;
    return query === '2' ? 0 : minute % 5 === 0 ? 1 : undefined;
  });
  expect(text).toBe(`ns/g: 11 evaluations, one every 1m
  2026-01-05T10:00:00.000Z firing     B {app="x"} value 1
  2026-01-05T10:01:00.000Z pending    A {app="x", s="p"} value 1
  2026-01-05T10:01:00.000Z resolved   B {app="x"}
  2026-01-05T10:02:00.000Z inactive   A {app="x", s="p"}
  2026-01-05T10:04:00.000Z pending    A {app="x", s="p"} value 4
  2026-01-05T10:05:00.000Z firing     B {app="x"} value 1
  2026-01-05T10:06:00.000Z firing     A {app="x", s="p"} value 6
  2026-01-05T10:06:00.000Z resolved   B {app="x"}
  2026-01-05T10:08:00.000Z resolved   A {app="x", s="p"}
  2026-01-05T10:09:00.000Z pending    A {app="x", s="p"} value 9
  2026-01-05T10:10:00.000Z inactive   A {app="x", s="p"}
  2026-01-05T10:10:00.000Z firing     B {app="x"} value 1
  alert A: pending 3 times, firing once
  record r: 11 samples of 1 series
  alert B: pending 0 times, firing 3 times
`);
  expect(broken).toBe(0);
  expect(requests.map(({ query }) => query)).toEqual(['1', '2', '3']);
});

test('queries long ranges in parts, each once', async () => {
  const { text, requests } = await run("[{record: r, expr: '1'}]", () => 1, { minutes: 1234 });
  expect(text).toContain('record r: 1235 samples of 1 series');
  const ranges = requests.map(({ startNs, endNs }) => [
    (startNs - START) / NS_PER_MINUTE,
    (endNs - START) / NS_PER_MINUTE,
  ]);
  expect(ranges).toEqual([
    [0n, 499n],
    [500n, 999n],
    [1000n, 1234n],
  ]);
});

test("follows a group's interval and query offset, with queries on multiples of the step", async () => {
  const { text, requests } = await run("[{alert: A, expr: '1'}]", minute => (minute === 5 ? 1 : undefined), {
    head: 'interval: 5m\n  query_offset: 90s',
  });
  expect(requests.map(({ startNs, endNs, step }) => [startNs - START, endNs - START, step])).toEqual([
    [0n, 5n * NS_PER_MINUTE, '300000ms'],
  ]);
  expect(text).toBe(`ns/g: 2 evaluations, one every 5m
  2026-01-05T10:06:30.000Z firing     A {app="x"} value 1
  alert A: pending 0 times, firing once
`);
});

test('reports a refused rule once, and continues with the others', async () => {
  const { text, broken } = await run("[{record: r, expr: '1'}, {record: s, expr: '2'}]", (_, query) => {
    if (query === '1') throw new CommandError('400 Bad Request: no\nsecond line');
    return 1;
  });
  expect(text).toBe(`ns/g: 11 evaluations, one every 1m
  2026-01-05T10:00:00.000Z error      r: 400 Bad Request: no
  record r: 0 samples of 0 series
  record s: 11 samples of 1 series
`);
  expect(broken).toBe(1);
});

test('ends if the store cannot be reached', async () => {
  const gone = run("[{record: r, expr: '1'}]", () => {
    throw new UnreachableError('cannot reach the store');
  });
  await expect(gone).rejects.toThrow(new UnreachableError('cannot reach the store'));
});

test('refuses a range without an evaluation, and one with too many', async () => {
  const hourly = { minutes: -1, head: 'interval: 1h' };
  expect((await run("[{record: r, expr: '1'}]", () => 1, hourly)).text).toBe(
    'ns/g: 0 evaluations, one every 1h\n',
  );
  await expect(run("[{record: r, expr: '1'}]", () => 1, { minutes: 50_001 })).rejects.toThrow(
    'too many evaluations',
  );
});
