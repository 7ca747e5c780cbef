/** Overrides of tenants: a file of Loki works unchanged, and problems are reported with their place. */
import { describe, expect, test } from '@jest/globals';
import { DEFAULT_LIMITS, type Limits } from '../../shared/base/model/limits.ts';
import { NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { combineLimits } from '../../shared/read/query/query-limits.ts';
import { ConfigError } from '../../shared/server/admin/config.ts';
import {
  MAX_OVERRIDDEN_TENANTS,
  MAX_OVERRIDES_BYTES,
  parseOverrides,
} from '../../shared/server/admin/overrides.ts';

const MIB = 1024 ** 2;

const parse = (...texts: string[]) =>
  parseOverrides(
    texts.map((text, i) => ({ name: `o${i + 1}.yaml`, text })),
    DEFAULT_LIMITS,
  );

function problemOf(...texts: string[]): string {
  try {
    parse(...texts);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error('accepted');
}

/**
 * A file of an operator of the reference: shared settings, comments, and keys of components that do not exist
 * here.
 */
const REFERENCE_FILE = `
# owned by the platform team
overrides:
  "acme": &large
    ingestion_rate_strategy: local
    ingestion_rate_mb: 20
    ingestion_burst_size_mb: 30.5
    max_streams_per_user: 0
    max_global_streams_per_user: 50000
    per_stream_rate_limit: 8MB
    per_stream_rate_limit_burst: 24MB
    max_label_names_per_series: 20
    max_label_value_length: 4096
    reject_old_samples: true
    reject_old_samples_max_age: 14d
    creation_grace_period: 15m
    max_line_size: 512KB
    max_line_size_truncate: true
    increment_duplicate_timestamp: true
    unordered_writes: true
    discover_service_name: [team, app]
    max_structured_metadata_size: 128KB
    max_structured_metadata_entries_count: 256
    shard_streams:
      enabled: true
      desired_rate: 3MB
      logging_enabled: false
    max_entries_limit_per_query: 10000
    max_query_series: 2000
    max_query_length: 0s
    max_query_lookback: 744h
    query_timeout: 5m
    split_queries_by_interval: 30m
    max_query_parallelism: 64
    max_chunks_per_query: 4000000
  "29":
    <<: *large
    max_query_series: 100
    enforced_labels: [team]
    policy_enforced_labels:
      finance: [cost_center]
      "*": [env]
    policy_stream_mapping:
      finance:
        - selector: '{namespace=~"billing|payments"}'
          priority: 2
      ops:
        - selector: '{namespace="ops"}'
          priority: 1
    block_ingestion_policy_until:
      ops: "2030-01-01T00:00:00Z"
    block_ingestion_status_code: 200
  trial:
    block_ingestion_until: 2030-01-01T00:00:00Z
    required_labels: [app]
    minimum_labels_number: 1
    volume_enabled:
    blocked_queries:
      - pattern: '.*secret.*'
        regex: true
        types: [filter, limited]
  empty:
configs:
  acme:
    log_push_request: true
multi_kv_config:
  mirror_enabled: false
`;

describe('overrides file of Loki', () => {
  const { limits, warnings } = parse(REFERENCE_FILE);
  const of = (tenant: string): Limits => limits.get(tenant)!;

  test('contains tenants', () => {
    expect([...limits.keys()].sort()).toEqual(['29', 'acme', 'empty', 'trial']);
  });

  test('replaces defaults key by key', () => {
    expect(of('acme')).toEqual({
      ...DEFAULT_LIMITS,
      ingestionRateStrategy: 'local',
      ingestionRateMb: 20,
      ingestionBurstSizeMb: 30.5,
      maxStreamsPerUser: 0,
      maxGlobalStreamsPerUser: 50_000,
      perStreamRateLimit: 8 * MIB,
      perStreamRateLimitBurst: 24 * MIB,
      maxLabelNamesPerSeries: 20,
      maxLabelValueLength: 4096,
      rejectOldSamplesMaxAgeNs: 14n * 24n * NS_PER_HOUR,
      creationGracePeriodNs: NS_PER_HOUR / 4n,
      maxLineSize: 512 * 1024,
      maxLineSizeTruncate: true,
      incrementDuplicateTimestamp: true,
      discoverServiceName: ['team', 'app'],
      maxStructuredMetadataSize: 128 * 1024,
      maxStructuredMetadataEntriesCount: 256,
      shardStreams: { enabled: true, desired_rate: '3MB', logging_enabled: false },
      maxEntriesLimitPerQuery: 10_000,
      maxQuerySeries: 2000,
      maxQueryParallelism: 64,
      maxQueryLengthNs: 0n,
      maxQueryLookbackNs: 744n * NS_PER_HOUR,
      queryTimeoutNs: NS_PER_HOUR / 12n,
    });
  });

  test('supports settings shared by an anchor, and settings by policy', () => {
    expect(of('29')).toEqual({
      ...of('acme'),
      maxQuerySeries: 100,
      enforcedLabels: ['team'],
      policyEnforcedLabels: new Map([
        ['finance', ['cost_center']],
        ['*', ['env']],
      ]),
      policyStreamMapping: new Map([
        ['finance', [{ selector: '{namespace=~"billing|payments"}', priority: 2 }]],
        ['ops', [{ selector: '{namespace="ops"}', priority: 1 }]],
      ]),
      blockIngestionPolicyUntil: new Map([
        ['ops', { ns: 1_893_456_000_000_000_000n, text: '2030-01-01T00:00:00Z' }],
      ]),
      blockIngestionStatusCode: 200,
    });
  });

  test('supports keys of queries, and a key without a value', () => {
    expect(of('trial')).toEqual({
      ...DEFAULT_LIMITS,
      blockIngestionUntil: { ns: 1_893_456_000_000_000_000n, text: '2030-01-01T00:00:00Z' },
      requiredLabels: ['app'],
      minimumLabelsNumber: 1,
      blockedQueries: [
        { pattern: '.*secret.*', regex: true, hash: 0, types: ['filter', 'limited'], queryTags: {} },
      ],
    });
    expect(of('empty')).toEqual(DEFAULT_LIMITS);
  });

  test('lists keys without effect in one warning', () => {
    const strange = ['split_queries_by_interval (line 33)', 'max_chunks_per_query (line 35)'];
    const names = ['configs (line 63)', 'multi_kv_config (line 66)'];
    for (const tenant of ['29', 'acme']) names.push(...strange.map(name => `overrides.${tenant}.${name}`));
    expect(warnings).toHaveLength(1);
    const [start, told] = warnings[0].split(': ');
    expect(start).toBe('these keys of the overrides have no effect in Logboom');
    expect(told.split(', ').sort()).toEqual(names.sort());
  });

  test('has limits that combine over several tenants', () => {
    const { maxQuerySeries, queryTimeoutNs, maxQueryLengthNs, requiredLabels } = combineLimits([
      of('acme'),
      of('29'),
      of('trial'),
    ]);
    expect({ maxQuerySeries, queryTimeoutNs, maxQueryLengthNs, requiredLabels }).toEqual({
      maxQuerySeries: 100,
      queryTimeoutNs: 60_000_000_000n,
      maxQueryLengthNs: 721n * NS_PER_HOUR,
      requiredLabels: ['app'],
    });
  });
});

describe('content of overrides', () => {
  test.each(['', '# nothing', '{}', 'overrides:', 'overrides: {}'])('%j overrides nothing', text => {
    expect(parse(text)).toEqual({ limits: new Map(), warnings: [] });
  });

  test('keeps names of tenants as they are written', () => {
    const { limits } = parse(
      'overrides: {042: {}, true: {}, 1e3: {}, null: {}, constructor: {}, 2026-01-01: {}}',
    );
    expect([...limits.keys()]).toEqual(['042', 'true', '1e3', 'null', 'constructor', '2026-01-01']);
  });

  test('replaces single keys by a later file', () => {
    const { limits } = parse(
      'overrides: {a: {max_query_series: 1, max_line_size: 1, policy_enforced_labels: {p: [x], q: [y]}}, b: {}}',
      'overrides: {a: {max_query_series: 2, policy_enforced_labels: {q: [z]}}, c: {max_line_size: 3}}',
    );
    expect(limits).toEqual(
      new Map<string, Limits>([
        [
          'a',
          {
            ...DEFAULT_LIMITS,
            maxQuerySeries: 2,
            maxLineSize: 1,
            policyEnforcedLabels: new Map([
              ['p', ['x']],
              ['q', ['z']],
            ]),
          },
        ],
        ['b', DEFAULT_LIMITS],
        ['c', { ...DEFAULT_LIMITS, maxLineSize: 3 }],
      ]),
    );
  });
});

describe('problems of overrides', () => {
  // [text, message]
  const rows: [string, string][] = [
    ['[]', 'o1.yaml:1:1: the file: expected a map, got []'],
    ['overrides: [a]', 'o1.yaml:1:1: overrides: expected a map, got ["a"]'],
    ['overrides: {a: 3}', 'o1.yaml:1:13: overrides.a: expected a map, got 3'],
    [
      'overrides: {a: {max_query_series: many}}',
      'o1.yaml:1:17: overrides.a.max_query_series: expected a whole number of at least 0, got "many"',
    ],
    [
      'overrides: {a: {reject_old_samples: 1}, b: {max_line_size: big}}',
      'o1.yaml:1:17: overrides.a.reject_old_samples: expected true or false, got 1\n' +
        'o1.yaml:1:45: overrides.b.max_line_size: expected a size such as 0, 512KB, 10MB or 1.5GB (1KB is 1024 bytes), got "big"',
    ],
  ];
  test.each(rows)('%s', (text, want) => {
    expect(problemOf(text)).toBe(want);
  });

  test('name the file of broken YAML', () => {
    expect(problemOf('overrides: {}', 'overrides: {')).toMatch(/^o2\.yaml:1:\d+: /);
  });

  test('report a repeated tenant or key', () => {
    expect(problemOf('overrides: {a: {}, b: {}, a: {}}')).toBe('o1.yaml:1:27: duplicate key a');
    expect(problemOf('overrides: {a: {max_line_size: 1, max_line_size: 2}}')).toBe(
      'o1.yaml:1:35: duplicate key max_line_size',
    );
  });

  test('report values out of range', () => {
    expect(problemOf(`# ${'x'.repeat(MAX_OVERRIDES_BYTES)}`)).toBe('o1.yaml: larger than 16777216 bytes');
    const tenants = Array.from({ length: MAX_OVERRIDDEN_TENANTS + 1 }, (_, i) => `t${i}: {}`);
    expect(problemOf(`overrides: {${tenants.join(',')}}`)).toBe('overrides of 100001 tenants, limit: 100000');
  });

  test('report an anchor that expands without a limit', () => {
    const rows = Array.from(
      { length: 9 },
      (_, i) => `a${i + 1}: &a${i + 1} [${Array(9).fill(`*a${i}`).join(',')}]`,
    );
    expect(problemOf(`a0: &a0 [x]\n${rows.join('\n')}`)).toMatch(/alias/i);
  });

  test('list twenty ignored keys in a warning and count the others', () => {
    const tenants = Array.from({ length: 25 }, (_, i) => `t${i}: {nosuch: 1}`);
    const { warnings } = parse(`overrides: {${tenants.join(',')}}`);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/overrides\.t19\.nosuch \(line 1\); and 5 more$/);
  });
});
