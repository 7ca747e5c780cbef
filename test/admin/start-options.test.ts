/** Options of `logboom start`, and its messages if it cannot start. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Command } from 'commander';
import { parsePort, readOptions, register, startError, welcome } from '../../bin/commands/start.ts';
import { DEFAULT_CONFIG_FILE } from '../../local/default-config.ts';
import { ConfigError } from '../../shared/server/admin/config.ts';

const LOCAL = fileURLToPath(new URL('../../config/local.yaml', import.meta.url));
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'logboom-start-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(text: string): string {
  const path = join(folder, 'config.yaml');
  writeFileSync(path, text);
  return path;
}

describe('options of logboom start', () => {
  test('default to the local configuration', () => {
    const { options, warnings } = readOptions({ config: LOCAL }, {});
    expect(options).toMatchObject({
      host: '127.0.0.1',
      port: 3100,
      logLevel: 'info',
      storage: { kind: 'embedded', dataDir: resolve('data') },
    });
    expect(options.config.auth.authEnabled).toBe(false);
    expect(warnings).toEqual([]);
  });

  test('override the file, also if they are empty or zero', () => {
    const config = file('server: {http_listen_address: 10.0.0.1, http_listen_port: 5, log_level: error}\n');
    const flags = { config, host: '', port: 0, logLevel: 'debug', dataDir: '/x' };
    expect(readOptions(flags, {}).options).toMatchObject({
      host: '',
      port: 0,
      logLevel: 'debug',
      storage: { kind: 'embedded', dataDir: '/x' },
    });
    expect(readOptions({ config }, {}).options).toMatchObject({
      host: '10.0.0.1',
      port: 5,
      logLevel: 'error',
    });
  });

  test('read the configuration from the environment unless a file is named', () => {
    const yaml = { LOGBOOM_CONFIG_YAML: 'server: {http_listen_port: 7}' };
    expect(readOptions({ config: DEFAULT_CONFIG_FILE }, yaml).options.port).toBe(7);
    expect(readOptions({ config: file('{}\n') }, yaml).options.port).toBe(3100);
    const wrong = { LOGBOOM_CONFIG_YAML: 'logboom: {no_such_key: 1}' };
    expect(() => readOptions({ config: DEFAULT_CONFIG_FILE }, wrong)).toThrow(/LOGBOOM_CONFIG_YAML/);
  });

  test('replace variables in the file, and pass on its warnings', () => {
    const config = file('schema_config: {}\nlogboom: {data_dir: "$' + '{WHERE:/none}"}\n');
    const { options, warnings } = readOptions({ config }, { WHERE: '/there' });
    expect(options.storage).toEqual({ kind: 'embedded', dataDir: '/there' });
    expect(warnings).toHaveLength(1);
  });

  test('select S3 and DynamoDB by flags or by the file', () => {
    const want = {
      kind: 's3',
      bucket: 'b',
      table: 't',
      endpoint: 'http://localhost:4566',
      region: undefined,
    };
    const empty = file('{}\n');
    const flags = {
      config: empty,
      storage: 's3',
      bucket: 'b',
      table: 't',
      endpoint: 'http://localhost:4566',
    } as const;
    expect(readOptions(flags, {}).options.storage).toEqual(want);
    const config = file(
      'logboom: {storage: s3, s3_bucket: b, dynamodb_table: t, aws_endpoint: "http://localhost:4566"}\n',
    );
    expect(readOptions({ config }, {}).options.storage).toEqual(want);
    expect(() => readOptions({ config: file('{}\n'), storage: 's3', bucket: 'b' }, {})).toThrow(
      'needs a bucket and a table',
    );
  });

  test('show the variable of every flag in the help', () => {
    const program = new Command();
    register(program);
    const help = program.commands[0].helpInformation();
    for (const name of ['port', 'host', 'data-dir', 'config', 'log-level']) {
      expect(help).toContain(`--${name} `);
      expect(help.replace(/\s+/g, ' ')).toContain(`env: LOGBOOM_${name.toUpperCase().replace('-', '_')}`);
    }
  });

  test.each(['-1', '65536', 'x', '', '1.5', '0x10'])('%j is not a port', text => {
    expect(() => parsePort(text)).toThrow('A port is a number from 0 to 65535.');
  });

  test('accept ports', () => {
    expect([parsePort('0'), parsePort('3100'), parsePort('65535')]).toEqual([0, 3100, 65_535]);
  });
});

describe('messages of logboom start', () => {
  const { options } = readOptions({ config: LOCAL }, {});

  test('show a push and a query without a header if there is one tenant', () => {
    const words = welcome('http://127.0.0.1:3100', options);
    expect(words).toContain('http://127.0.0.1:3100/loki/api/v1/push');
    expect(words).toContain('http://127.0.0.1:3100/loki/api/v1/query_range');
    expect(words).not.toContain("-H 'X-Scope-OrgID");
  });

  test('show the header if there are several tenants', () => {
    const config = {
      ...options.config,
      auth: { target: 'all' as const, authEnabled: true, noAuthTenant: 'fake' },
    };
    expect(welcome('http://h', { ...options, config }).match(/-H 'X-Scope-OrgID: me'/g)).toHaveLength(2);
  });

  test.each([
    [{ code: 'EADDRINUSE', address: '::', port: 3100 }, /^::, port 3100 is in use; .*--port$/],
    [{ code: 'EADDRNOTAVAIL', address: '1.2.3.4', port: 1 }, /^1\.2\.3\.4, port 1: .*--host$/],
    [{ code: 'EACCES', address: '::', port: 80 }, /^::, port 80 is not allowed; .*--port$/],
    [{ code: 'ENOENT', path: '/nope' }, /^file not found: \/nope$/],
  ])('%j', (fields, want) => {
    expect(startError(Object.assign(new Error('x'), fields))).toMatch(want);
  });

  test('show an invalid configuration as it is, and an unexpected error with its stack', () => {
    expect(startError(new ConfigError('file: what is wrong'))).toBe('file: what is wrong');
    expect(startError(new Error('boom'))).toMatch(/^cannot start: Error: boom\n +at /);
  });
});
