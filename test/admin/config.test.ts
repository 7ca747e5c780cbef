// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references to the environment are what is tested
import { readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { API_VERSION, buildInfo, LOGBOOM_VERSION } from '../../shared/server/admin/build-info.ts';
import {
  ConfigError,
  formatConfig,
  maxDecompressedBytes,
  parseConfig,
} from '../../shared/server/admin/config.ts';
import { expandWithOffsets } from '../../shared/server/admin/config-environment.ts';
import { type Config, DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';

const MIB = 1024 * 1024;
const parse = (text: string, environment: Record<string, string> = {}) =>
  parseConfig(text, { name: 'test.yaml', environment });
const configOf = (text: string, environment?: Record<string, string>) => parse(text, environment).config;

const BLOCKED_UNTIL = { ns: 1_769_859_000n * NS_PER_SECOND, text: '2026-01-31T12:30:00+01:00' };

function problemOf(text: string): string {
  try {
    parse(text);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error('accepted');
}

describe('content of a configuration file', () => {
  test.each(['', '# nothing\n', 'server:\n', '{}', 'limits_config: {}\n'])('%j means the defaults', text => {
    expect(parse(text)).toEqual({ config: DEFAULT_CONFIG, warnings: [] });
  });

  test('an empty file has the documented defaults', () => {
    const { auth, server, distributor, querier, frontend, limits } = configOf('');
    expect(auth).toEqual({ target: 'all', authEnabled: true, noAuthTenant: 'fake' });
    expect(server).toMatchObject({ httpListenPort: 3100, logLevel: 'info', idleTimeoutMs: 120_000 });
    expect(server).toMatchObject({ readTimeoutMs: 30_000, writeTimeoutMs: 30_000 });
    expect(distributor.maxRecvMsgSize).toBe(104_857_600);
    expect(querier.multiTenantQueriesEnabled).toBe(false);
    expect(frontend).toEqual({
      compressResponses: true,
      supportParquetEncoding: true,
      maxBodySize: 10 * MIB,
      maxOutstandingPerTenant: 2048,
    });
    expect(limits).toEqual(DEFAULT_LIMITS);
  });

  test.each<[string, (config: Config) => unknown, unknown]>([
    ['auth_enabled: false', c => c.auth.authEnabled, false],
    ['no_auth_tenant: me', c => c.auth.noAuthTenant, 'me'],
    ['server: {http_listen_port: 0}', c => c.server.httpListenPort, 0],
    ['server: {http_server_read_timeout: 1m30s}', c => c.server.readTimeoutMs, 90_000],
    ['logboom: {group_commit_wait: 1500us}', c => c.logboom.groupCommitWaitMs, 1.5],
    ['logboom: {group_commit_wait: 0}', c => c.logboom.groupCommitWaitMs, 0],
    ['limits_config: {max_line_size: 256KB}', c => c.limits.maxLineSize, 262_144],
    ['limits_config: {max_line_size: 1.5kb}', c => c.limits.maxLineSize, 1536],
    ['limits_config: {max_line_size: 10}', c => c.limits.maxLineSize, 10],
    ['limits_config: {max_line_size: 2 MiB}', c => c.limits.maxLineSize, 2 * MIB],
    ['limits_config: {max_line_size: 0B}', c => c.limits.maxLineSize, 0],
    ['limits_config: {max_query_bytes_read: 150GB}', c => c.limits.maxQueryBytesRead, 150 * 1024 * MIB],
    ['limits_config: {max_query_length: 0}', c => c.limits.maxQueryLengthNs, 0n],
    ['limits_config: {max_query_length: 721h}', c => c.limits.maxQueryLengthNs, 721n * 3600n * NS_PER_SECOND],
    [
      'limits_config: {max_query_length: 30d1h}',
      c => c.limits.maxQueryLengthNs,
      721n * 3600n * NS_PER_SECOND,
    ],
    ['limits_config: {query_timeout: 0.5s}', c => c.limits.queryTimeoutNs, NS_PER_SECOND / 2n],
    ['limits_config: {discover_service_name: []}', c => c.limits.discoverServiceName, []],
    ['limits_config: {required_labels: [app]}', c => c.limits.requiredLabels, ['app']],
    ['limits_config: {ingestion_rate_mb: 0.5}', c => c.limits.ingestionRateMb, 0.5],
    ['limits_config: {per_stream_rate_limit: 5MB}', c => c.limits.perStreamRateLimit, 5 * MIB],
    ['limits_config: {block_ingestion_until: 0}', c => c.limits.blockIngestionUntil, undefined],
    [
      'limits_config: {block_ingestion_until: 2026-01-31}',
      c => c.limits.blockIngestionUntil,
      { ns: 1_769_817_600n * NS_PER_SECOND, text: '2026-01-31T00:00:00Z' },
    ],
    [
      'limits_config: {block_ingestion_until: "2026-01-31T12:30"}',
      c => c.limits.blockIngestionUntil,
      { ns: 1_769_862_600n * NS_PER_SECOND, text: '2026-01-31T12:30:00Z' },
    ],
    [
      'limits_config: {block_ingestion_until: 2026-01-31T12:30:00.5+01:00}',
      c => c.limits.blockIngestionUntil,
      { ns: 1_769_859_000n * NS_PER_SECOND + NS_PER_SECOND / 2n, text: '2026-01-31T12:30:00+01:00' },
    ],
    [
      'limits_config: {block_ingestion_policy_until: {"*": 2026-01-31T00:00:00+00:00, b: 0}}',
      c => c.limits.blockIngestionPolicyUntil,
      new Map([['*', { ns: 1_769_817_600n * NS_PER_SECOND, text: '2026-01-31T00:00:00Z' }]]),
    ],
    [
      'limits_config: {policy_enforced_labels: {constructor: [team]}}',
      c => c.limits.policyEnforcedLabels,
      new Map([['constructor', ['team']]]),
    ],
    [
      `limits_config: {policy_stream_mapping: {p: [{selector: '{a="b"}', priority: 2}, {selector: '{c="d"}'}]}}`,
      c => c.limits.policyStreamMapping,
      new Map([
        [
          'p',
          [
            { selector: '{a="b"}', priority: 2 },
            { selector: '{c="d"}', priority: 0 },
          ],
        ],
      ]),
    ],
    [
      'limits_config: {discover_generic_fields: {fields: {org: [org_id, tenant]}}}',
      c => c.limits.discoverGenericFields,
      new Map([['org', ['org_id', 'tenant']]]),
    ],
    ['limits_config: {discover_generic_fields: {}}', c => c.limits.discoverGenericFields, new Map()],
    ['runtime_config: {file: a.yaml}', c => c.runtime.files, ['a.yaml']],
    ['runtime_config: {file: "a.yaml, b.yaml,"}', c => c.runtime.files, ['a.yaml', 'b.yaml']],
    ['runtime_config: {file: [a.yaml, b.yaml], period: 1m}', c => c.runtime.periodMs, 60_000],
    [
      'limits_config: {per_tenant_override_config: /etc/o.yaml, per_tenant_override_period: 3s}',
      c => c.runtime,
      { files: ['/etc/o.yaml'], object: '', periodMs: 3000 },
    ],
    [
      'limits_config: {per_tenant_override_config: old.yaml, per_tenant_override_period: 3s}\nruntime_config: {file: new.yaml}',
      c => c.runtime,
      { files: ['new.yaml'], object: '', periodMs: 3000 },
    ],
    [
      'limits_config: {blocked_queries: [{pattern: x, regex: true, types: [metric]}]}',
      c => c.limits.blockedQueries,
      [{ pattern: 'x', regex: true, hash: 0, types: ['metric'], queryTags: {} }],
    ],
  ])('%s', (text, pick, want) => {
    const { config, warnings } = parse(text);
    expect(pick(config)).toEqual(want);
    expect(warnings).toEqual([]);
  });

  test('limits decompressed pushes to 128 MiB by default; 0 means 50 times their size as sent', () => {
    expect(maxDecompressedBytes(configOf(''))).toBe(128 * MIB);
    expect(maxDecompressedBytes(configOf('distributor: {max_decompressed_size: 0}'))).toBe(5000 * MIB);
    expect(maxDecompressedBytes(configOf('distributor: {max_decompressed_size: 1GB}'))).toBe(1024 * MIB);
  });
});

describe('problems of a configuration file', () => {
  test.each([
    ['auth_enabled: 1', 'auth_enabled: expected true or false, got 1'],
    ['auth_enabled: "yes"', 'auth_enabled: expected true or false, got "yes"'],
    [
      'server: {http_listen_port: 70000}',
      'server.http_listen_port: expected a whole number from 0 to 65535, got 70000',
    ],
    [
      'server: {http_listen_port: "3100"}',
      'server.http_listen_port: expected a whole number from 0 to 65535, got "3100"',
    ],
    ['server: {log_level: trace}', 'server.log_level: expected one of debug, info, warn, error, got "trace"'],
    ['server: []', 'server: expected a map, got []'],
    ['[]', 'the file: expected a map, got []'],
    [
      'limits_config: {max_query_length: soon}',
      'limits_config.max_query_length: expected a duration such as 30s, 5m, 1h30m or 7d, got "soon"',
    ],
    [
      'limits_config: {max_query_length: 30}',
      'limits_config.max_query_length: expected a duration such as 30s, 5m, 1h30m or 7d, got 30',
    ],
    [
      'limits_config: {max_query_length: -1h}',
      'limits_config.max_query_length: expected a duration such as 30s, 5m, 1h30m or 7d, got "-1h"',
    ],
    [
      'limits_config: {max_line_size: big}',
      'limits_config.max_line_size: expected a size such as 0, 512KB, 10MB or 1.5GB (1KB is 1024 bytes), got "big"',
    ],
    [
      'limits_config: {max_query_series: -1}',
      'limits_config.max_query_series: expected a whole number of at least 0, got -1',
    ],
    [
      'limits_config: {required_labels: app}',
      'limits_config.required_labels: expected a list of strings, got "app"',
    ],
    [
      'limits_config: {required_labels: [1]}',
      'limits_config.required_labels: expected a list of strings, got 1 at 0 (Invalid input: expected string, received number)',
    ],
    [
      'limits_config: {block_ingestion_until: 2026-02-30}',
      'limits_config.block_ingestion_until: expected a time such as 2026-01-31, 2026-01-31T12:00 or 2026-01-31T12:00:00Z, got "2026-02-30"',
    ],
    [
      'limits_config: {block_ingestion_status_code: 99}',
      'limits_config.block_ingestion_status_code: expected a whole number from 200 to 599, got 99',
    ],
    [
      'limits_config: {ingestion_rate_strategy: none}',
      'limits_config.ingestion_rate_strategy: expected one of global, local, got "none"',
    ],
    [
      'limits_config: {ingestion_rate_mb: -1}',
      'limits_config.ingestion_rate_mb: expected a number of at least 0, got -1',
    ],
    [
      'limits_config: {policy_stream_mapping: {p: [{selector: "{}", priority: 1}]}}',
      'limits_config.policy_stream_mapping: expected a map from policy to a list of {selector, priority}; a selector has the syntax of a query, {app="a"}, got "{}" at p.0.selector',
    ],
    [
      'limits_config: {discover_generic_fields: {fields: {"_": [a]}}}',
      'limits_config.discover_generic_fields: expected {fields: {name: [source]}}, got {"fields":{"_":["a"]}}',
    ],
    ['no_auth_tenant: ', 'no_auth_tenant: expected a string, got null'],
  ])('%s', (text, want) => {
    expect(problemOf(text)).toMatch(/^test\.yaml:1:\d+: /);
    expect(problemOf(text).replace(/^test\.yaml:1:\d+: /, '')).toBe(want);
  });

  test('reports all problems at once', () => {
    expect(problemOf('auth_enabled: 1\nserver: {log_level: x}\n').split('\n')).toHaveLength(2);
  });

  test('names the file and the line of broken YAML', () => {
    expect(problemOf('server:\n  a: [1\n')).toMatch(/^test\.yaml:3:1: /);
    expect(problemOf('auth_enabled: true\nauth_enabled: false\n')).toBe(
      'test.yaml:2:1: duplicate key auth_enabled',
    );
  });

  test('lists other keys of Loki in one warning', () => {
    const text =
      'schema_config: {configs: []}\nlimits_config: {max_chunks_per_query: 4}\nserver: {grpc_listen_port: 9095}';
    const { config, warnings } = parse(text);
    expect(config).toEqual(DEFAULT_CONFIG);
    expect(warnings).toEqual([
      'test.yaml: these keys have no effect in Logboom: schema_config (line 1), limits_config.max_chunks_per_query (line 2), server.grpc_listen_port (line 3; do you mean http_listen_port?)',
    ]);
  });

  test('refuses an unknown key of the section logboom', () => {
    expect(problemOf('logboom: {datadir: x}')).toMatch(
      /^test\.yaml:1:11: logboom\.datadir: unknown key \(do you mean data_dir\?\); allowed are storage, data_dir, /,
    );
  });

  test('treats names of Object.prototype as unknown keys', () => {
    expect(parse('constructor: 1\n').warnings).toEqual([
      'test.yaml: these keys have no effect in Logboom: constructor (line 1)',
    ]);
    expect(configOf('__proto__: {auth_enabled: false}')).toEqual(DEFAULT_CONFIG);
  });
});

describe('environment', () => {
  test.each([
    ['${A}', 'one'],
    ['${A:x}', 'one'],
    ['${NONE}', ''],
    ['${NONE:x}', 'x'],
    ['${NONE:-x y}', 'x y'],
    ['${NONE:=x}', 'x'],
    ['${EMPTY:x}', 'x'],
    ['${NONE:http://h:1/}', 'http://h:1/'],
    ['a ${A}${A} b', 'a oneone b'],
    ['$A $1 ${1} ${} ${A', '$A $1 ${1} ${} ${A'],
  ])('%s', (text, want) => {
    expect(expandWithOffsets(text, { A: 'one', EMPTY: '' }).text).toBe(want);
  });

  test('gives values the type that the YAML has after replacement', () => {
    expect(configOf('server: {http_listen_port: ${PORT:1}}', { PORT: '99' }).server.httpListenPort).toBe(99);
  });
});

describe('printed configuration', () => {
  const full = formatConfig(DEFAULT_CONFIG, { mode: 'full' });

  test('has names, durations and sizes in the form of the file', () => {
    expect(full).toMatchObject({
      auth_enabled: true,
      server: { http_server_read_timeout: '30s', http_server_idle_timeout: '2m' },
      frontend: { max_body_size: '10MB' },
      limits_config: { max_query_length: '30d1h', reject_old_samples_max_age: '1w', max_line_size: '256KB' },
      logboom: { group_commit_wait: '2ms' },
    });
  });

  test('has only differences with diff, and only defaults with defaults', () => {
    const config = configOf('auth_enabled: false\nlimits_config: {max_query_length: 1h}\n');
    const diff = { auth_enabled: false, limits_config: { max_query_length: '1h' } };
    expect(full.limits_config).toMatchObject({
      ingestion_rate_strategy: 'global',
      ingestion_rate_mb: 4,
      ingestion_burst_size_mb: 6,
      max_global_streams_per_user: 5000,
      max_streams_per_user: 0,
      per_stream_rate_limit: '3MB',
      per_stream_rate_limit_burst: '15MB',
      block_ingestion_status_code: 260,
      block_ingestion_until: '0',
    });
    expect(formatConfig(config, { mode: 'diff' })).toEqual(diff);
    expect(formatConfig(config, { mode: 'defaults' })).toEqual(full);
    expect(formatConfig(DEFAULT_CONFIG, { mode: 'diff' })).toEqual({});
  });

  test('property: reads back as the same configuration', () => {
    const millis = fc.integer({ min: 0, max: 10_000_000 });
    const size = fc.integer({ min: 0, max: 2 ** 40 });
    const any = fc.record({
      millis,
      size,
      micros: millis,
      flag: fc.boolean(),
      texts: fc.array(fc.string()),
      name: fc.string(),
    });
    fc.assert(
      fc.property(any, given => {
        const config: Config = {
          ...DEFAULT_CONFIG,
          auth: { target: 'all', authEnabled: given.flag, noAuthTenant: given.name },
          server: { ...DEFAULT_CONFIG.server, readTimeoutMs: given.millis },
          frontend: { ...DEFAULT_CONFIG.frontend, maxBodySize: given.size },
          logboom: { ...DEFAULT_CONFIG.logboom, groupCommitWaitMs: given.micros / 1000 },
          limits: {
            ...DEFAULT_LIMITS,
            requiredLabels: given.texts,
            // The one name that no object can be given.
            policyEnforcedLabels: new Map(
              given.texts.filter(name => name !== '__proto__').map(name => [name, given.texts]),
            ),
            discoverGenericFields: new Map([['org', given.texts]]),
            ingestionRateMb: given.millis / 8,
            blockIngestionUntil: BLOCKED_UNTIL,
            maxQueryLengthNs: BigInt(given.millis) * 1_000_000n,
          },
        };
        const text = stringify(formatConfig(config, { mode: 'full' })).replaceAll('${', '');
        fc.pre(!JSON.stringify(given).includes('${'));
        expect(parse(text)).toEqual({ config, warnings: [] });
      }),
    );
  });
});

describe('configuration files of the project', () => {
  const read = (name: string) => {
    const text = readFileSync(new URL(`../../config/${name}`, import.meta.url), 'utf8');
    return parseConfig(text, { name, environment: {} });
  };

  test('local.yaml has one tenant, accepts old entries, does not throttle, and listens on this machine only', () => {
    const { config, warnings } = read('local.yaml');
    expect(warnings).toEqual([]);
    expect(config.auth.authEnabled).toBe(false);
    expect(config.limits).toMatchObject({
      rejectOldSamples: false,
      ingestionRateMb: 1024,
      perStreamRateLimit: 1024 ** 3,
      maxGlobalStreamsPerUser: 0,
    });
    expect(config.patternIngester.enabled).toBe(true);
    expect(config.logboom.compactionTargetBytes).toBe(64 * 1024 * 1024);
    expect(config.server.httpListenAddress).toBe('127.0.0.1');
  });

  test('bench.yaml has several tenants and no limits', () => {
    const { config, warnings } = read('bench.yaml');
    expect(warnings).toEqual([]);
    expect(config.auth.authEnabled).toBe(true);
    expect(config.limits).toMatchObject({ maxEntriesLimitPerQuery: 100_000, maxQueryLengthNs: 0n });
  });

  test('build information names the version of the package and an API version that clients can read', () => {
    const pkg = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    expect(LOGBOOM_VERSION).toBe(pkg.version);
    expect(API_VERSION).toMatch(/^3\.\d+\.\d+$/);
    expect(Object.keys(buildInfo()).sort()).toEqual([
      'branch',
      'buildDate',
      'buildUser',
      'goVersion',
      'revision',
      'version',
    ]);
  });
});
