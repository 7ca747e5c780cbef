/**
 * Policies and blocks (docs/dev/wire-format.md#policies-and-blocks): the policy of a stream, blocked pushes,
 * and the resulting error.
 */
import { describe, expect, test } from '@jest/globals';
import { labelsOf } from '../../shared/base/model/labels.ts';
import { DEFAULT_LIMITS, type Limits, type PolicySelector } from '../../shared/base/model/limits.ts';
import { atOnce } from '../../shared/base/model/steps.ts';
import { acceptPush } from '../../shared/write/ingest/accept.ts';
import { decodeJsonPush } from '../../shared/write/ingest/json-push.ts';
import { policiesOf } from '../../shared/write/ingest/policies.ts';
import { totalsByPolicy } from '../../shared/write/ingest/policy-totals.ts';
import { acceptedEntries } from './entries.ts';

const NOW = 1_704_164_645_500_000_000n; // 2024-01-02T03:04:05.5Z
const LATER = { ns: NOW + 1n, text: '2024-01-02T04:04:05+01:00' };
const PAST = { ns: NOW, text: '2024-01-02T03:04:05Z' };

const mapping = (policies: Record<string, PolicySelector[]>) => new Map(Object.entries(policies));
const one = (selector: string, priority = 1): PolicySelector => ({ selector, priority });

describe('the policy of a stream', () => {
  // [labels, policies, policy]
  const rows: [Record<string, string>, Record<string, PolicySelector[]>, string][] = [
    [{ app: 'a' }, {}, ''],
    [{ app: 'a' }, { p: [] }, ''],
    [{ app: 'a' }, { p: [one('{app="b"}')] }, ''],
    [{ app: 'a' }, { p: [one('{app="a"}')] }, 'p'],
    [{ app: 'a' }, { p: [one('{app=~"a|b"}')], q: [one('{app="a"}', 2)] }, 'q'],
    [{ app: 'a' }, { p: [one('{app=~".+"}', 2)], q: [one('{app="a"}', 1)] }, 'p'],
    // The first by name if priorities are equal, regardless of file order.
    [{ app: 'a' }, { q: [one('{app="a"}')], p: [one('{app=~".+"}')] }, 'p'],
    // One of its selectors decides.
    [{ app: 'a' }, { p: [one('{app="a"}', 1), one('{app="b"}', 9)], q: [one('{app="a"}', 5)] }, 'q'],
    [{ app: 'a' }, { p: [one('{app="x"}', 1), one('{app="a"}', 9)], q: [one('{app="a"}', 5)] }, 'p'],
    [{ app: 'a', env: 'dev' }, { p: [one('{app="a", env!="dev"}')] }, ''],
    [{ app: 'a' }, { p: [one('{app="a", env!="dev"}')] }, 'p'],
    [{ app: 'ab' }, { p: [one('{app=~"a"}')] }, ''],
    [{ app: 'ab' }, { p: [one('{app!~"a.", app!=""}')] }, ''],
  ];
  test.each(rows)('labels %j map to policies %j', (labels, policies, want) => {
    expect(policiesOf(mapping(policies))(labelsOf(labels))).toBe(want);
  });

  test('uses the discovered service name', () => {
    const { policyOf } = push({ policyStreamMapping: mapping({ p: [one('{service_name="a"}')] }) }, [
      'a',
      'b',
    ]);
    expect(policyOf).toEqual(['p', '']);
  });
});

/** Streams by the value of `app`, with one entry each; one named `old` is too old, one named `empty` has none. */
function push(limits: Partial<Limits>, apps: readonly string[]) {
  const streams = apps.map(app => ({
    stream: { app },
    values: app === 'empty' ? [] : [[String(app === 'old' ? 0n : NOW), `line of ${app}`]],
  }));
  return atOnce(
    acceptPush(atOnce(decodeJsonPush(Buffer.from(JSON.stringify({ streams })))), {
      tenant: 'acme',
      limits: { ...DEFAULT_LIMITS, ...limits },
      nowNs: NOW,
    }),
  );
}

const stored = (result: ReturnType<typeof push>) =>
  acceptedEntries(result.accepted).map(({ line }) => line.slice('line of '.length));

describe('blocked ingestion', () => {
  const policies = mapping({ p: [one('{app=~"p.*"}')], q: [one('{app=~"q.*"}')] });
  const tenant = `ingestion blocked for user 'acme' until '${LATER.text}' with status code '260'`;
  const policy = (name: string, status = 260) =>
    `ingestion blocked for user 'acme' (policy: '${name}') until '${LATER.text}' with status code '${status}'`;
  const until = (times: Record<string, typeof LATER>) => new Map(Object.entries(times));
  const old =
    `entry for stream '{app="old", service_name="old"}' has timestamp too old: 1970-01-01T00:00:00Z, ` +
    'oldest acceptable timestamp is: 2023-12-26T03:04:05Z';

  type Row = [
    what: string,
    limits: Partial<Limits>,
    apps: string[],
    stored: string[],
    error: [status: number, message: string] | undefined,
    discards: [reason: string, policy: string, entries: number][],
  ];
  const rows: Row[] = [
    ['nothing', {}, ['a', 'p1'], ['a', 'p1'], undefined, []],
    [
      'the tenant',
      { blockIngestionUntil: LATER },
      ['a', 'p1'],
      [],
      [260, tenant],
      [
        ['blocked_ingestion', '', 1],
        ['blocked_ingestion', 'p', 1],
      ],
    ],
    ['over, to the nanosecond', { blockIngestionUntil: PAST }, ['a'], ['a'], undefined, []],
    [
      'a policy',
      { blockIngestionPolicyUntil: until({ p: LATER }) },
      ['a', 'p1', 'q1', 'p2'],
      ['a', 'q1'],
      [260, policy('p')],
      [['blocked_ingestion_policy', 'p', 2]],
    ],
    ['a policy, over', { blockIngestionPolicyUntil: until({ p: PAST }) }, ['p1'], ['p1'], undefined, []],
    [
      'those of no policy',
      { blockIngestionPolicyUntil: until({ '*': LATER }) },
      ['a', 'p1'],
      ['p1'],
      [260, policy('')],
      [['blocked_ingestion_policy', '', 1]],
    ],
    [
      'a name of its own goes before the fallback',
      { blockIngestionPolicyUntil: until({ '': PAST, '*': LATER }) },
      ['a'],
      ['a'],
      undefined,
      [],
    ],
    [
      'the tenant goes before the policy',
      { blockIngestionUntil: LATER, blockIngestionPolicyUntil: until({ p: LATER }) },
      ['p1'],
      [],
      [260, tenant],
      [['blocked_ingestion', 'p', 1]],
    ],
    [
      'the last stream is told',
      { blockIngestionPolicyUntil: until({ p: LATER, q: LATER }) },
      ['p1', 'q1'],
      [],
      [260, policy('q')],
      [
        ['blocked_ingestion_policy', 'p', 1],
        ['blocked_ingestion_policy', 'q', 1],
      ],
    ],
    [
      'another status',
      { blockIngestionPolicyUntil: until({ p: LATER }), blockIngestionStatusCode: 456 },
      ['a', 'p1'],
      ['a'],
      [456, policy('p', 456)],
      [['blocked_ingestion_policy', 'p', 1]],
    ],
    [
      '200 is silent',
      { blockIngestionUntil: LATER, blockIngestionStatusCode: 200 },
      ['a'],
      [],
      undefined,
      [['blocked_ingestion', '', 1]],
    ],
    [
      'a validation error goes before',
      { blockIngestionPolicyUntil: until({ p: LATER }) },
      ['p1', 'old'],
      [],
      [400, old],
      [
        ['blocked_ingestion_policy', 'p', 1],
        ['greater_than_max_sample_age', '', 1],
      ],
    ],
    [
      'entries of blocked streams are not validated',
      { blockIngestionUntil: LATER },
      ['old'],
      [],
      [260, tenant],
      [['blocked_ingestion', '', 1]],
    ],
    [
      'labels are validated before',
      { blockIngestionUntil: LATER, enforcedLabels: ['x'] },
      ['a'],
      [],
      [
        400,
        `missing required labels 'x' for user 'acme' for stream '{app="a", service_name="a"}' (policy: '')`,
      ],
      [['missing_enforced_labels', '', 1]],
    ],
    ['a stream without entries is not blocked', { blockIngestionUntil: LATER }, ['empty'], [], undefined, []],
  ];
  test.each(rows)('%s', (_, limits, apps, wantStored, wantError, wantDiscards) => {
    const result = push({ policyStreamMapping: policies, ...limits }, apps);
    expect(stored(result)).toEqual(wantStored);
    expect(result.error && [result.error.status, result.error.message]).toEqual(wantError);
    expect(result.discards.map(({ reason, policy: of, entries }) => [reason, of, entries])).toEqual(
      wantDiscards,
    );
  });

  test('counts stored and blocked entries by policy', () => {
    const result = push({ policyStreamMapping: policies }, ['p1', 'a', 'p22', 'old']);
    expect(totalsByPolicy(result.policyOf, result.totals)).toEqual([
      { policy: 'p', lines: 2, lineBytes: 21, metadataBytes: 0 },
      { policy: '', lines: 1, lineBytes: 9, metadataBytes: 0 },
    ]);
    expect([result.lineBytes, result.metadataBytes]).toEqual([30, 0]);
  });
});
