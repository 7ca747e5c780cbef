import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { MAX_EVENT_BODY_BYTES } from '../../functions/event-adapter.ts';
import {
  MAX_DECOMPRESSED_BYTES,
  MAX_REQUEST_RUN_MS,
  readSettings,
  withinPlatform,
} from '../../functions/settings.ts';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';

const NAMES = { LOGBOOM_BUCKET: 'chunks', LOGBOOM_TABLE: 'catalog' };

describe('readSettings', () => {
  test('names alone: the defaults, within the platform', () => {
    expect(readSettings(NAMES)).toEqual({
      bucket: 'chunks',
      table: 'catalog',
      endpoint: undefined,
      trustsAuthorizer: false,
      config: withinPlatform(DEFAULT_CONFIG),
      warnings: [],
    });
  });

  test.each([
    [{ ...NAMES, LOGBOOM_ENDPOINT: 'http://a', AWS_ENDPOINT_URL: 'http://b' }, 'http://a'],
    [{ ...NAMES, AWS_ENDPOINT_URL: 'http://b' }, 'http://b'],
    [{ ...NAMES, LOGBOOM_ENDPOINT: '' }, undefined],
  ])('endpoint of %j', (environment, want) => {
    expect(readSettings(environment).endpoint).toBe(want);
  });

  test('concurrent calls of query workers are those that the stack reserves, an integer', () => {
    expect(readSettings({ ...NAMES, LOGBOOM_QUERY_WORKER_CALLS: '400' }).queryWorkerCalls).toBe(400);
    expect(readSettings(NAMES).queryWorkerCalls).toBeUndefined();
    expect(() => readSettings({ ...NAMES, LOGBOOM_QUERY_WORKER_CALLS: '0' })).toThrow('at least 1, got "0"');
  });

  test.each(['LOGBOOM_BUCKET', 'LOGBOOM_TABLE'])('%s is required', name => {
    expect(() => readSettings({ ...NAMES, [name]: '' })).toThrow(
      `the environment variable ${name} is not set`,
    );
  });

  test('configuration from the environment, with its variables and warnings', () => {
    const { config, warnings } = readSettings({
      ...NAMES,
      LOGBOOM_CONFIG_YAML: `auth_enabled: $\{AUTH:false}\nquerier: {engine: x}`,
      AUTH: 'true',
    });
    expect(config.auth.authEnabled).toBe(true);
    expect(warnings).toEqual([
      'LOGBOOM_CONFIG_YAML: these keys have no effect in Logboom: querier.engine (line 2)',
    ]);
  });

  test('configuration from a file', () => {
    const folder = mkdtempSync(join(tmpdir(), 'logboom-settings-'));
    try {
      const file = join(folder, 'logboom.yaml');
      writeFileSync(file, 'limits_config: {max_line_size: 1KB}');
      expect(readSettings({ ...NAMES, LOGBOOM_CONFIG: file }).config.limits.maxLineSize).toBe(1024);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test('a wrong one names its place', () => {
    expect(() => readSettings({ ...NAMES, LOGBOOM_CONFIG_YAML: 'auth_enabled: maybe' })).toThrow(
      /^LOGBOOM_CONFIG_YAML:1:1: auth_enabled: expected true or false/,
    );
  });
});

test('the configuration may set less than the platform allows, never more', () => {
  const { distributor, frontend, logboom } = withinPlatform(DEFAULT_CONFIG);
  expect(distributor).toEqual({
    maxRecvMsgSize: MAX_EVENT_BODY_BYTES,
    maxDecompressedSize: MAX_DECOMPRESSED_BYTES,
  });
  expect(frontend.maxBodySize).toBe(MAX_EVENT_BODY_BYTES);
  expect([logboom.groupCommitWaitMs, logboom.writeTierWaitMs]).toEqual([0, 0]);
  expect(logboom.maintenanceRunMs).toBe(MAX_REQUEST_RUN_MS);
  const small = withinPlatform({
    ...DEFAULT_CONFIG,
    distributor: { maxRecvMsgSize: 1000, maxDecompressedSize: 0 },
    frontend: { ...DEFAULT_CONFIG.frontend, maxBodySize: 2000 },
    logboom: { ...DEFAULT_CONFIG.logboom, maintenanceRunMs: 3000 },
  });
  expect(small.logboom.maintenanceRunMs).toBe(3000);
  expect(small.distributor).toEqual({ maxRecvMsgSize: 1000, maxDecompressedSize: 50_000 });
  expect(small.frontend.maxBodySize).toBe(2000);
});
