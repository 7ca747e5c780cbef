/** `logboom config check` as a person runs it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parse as parseYaml } from 'yaml';
import { logboom } from './run-command.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'logboom-config-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function file(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

describe('logboom config check', () => {
  test('reports problems of the configuration and of the overrides with their places', async () => {
    const overrides = file('bad-overrides.yaml', 'overrides:\n  acme:\n    max_query_series: x\n');
    const config = file('bad.yaml', `server:\n  log_level: x\nauth_enabled: 1\nlogboom: {storage: s3}\n`);
    const { code, stdout, stderr } = await logboom(['config', 'check', config, '--overrides', overrides]);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe(
      'logboom: the configuration is invalid\n' +
        `${config}:3:1: auth_enabled: expected true or false, got 1\n` +
        `${config}:2:3: server.log_level: expected one of debug, info, warn, error, got "x"\n` +
        `${overrides}:3:5: overrides.acme.max_query_series: expected a whole number of at least 0, got "x"\n`,
    );
  });

  test('reports what a start would lack', async () => {
    const config = file(
      'missing.yaml',
      `logboom: {storage: s3}\nruntime_config: {file: ${folder}/none.yaml}\n`,
    );
    const { code, stderr } = await logboom(['config', 'check', config]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/none\.yaml: no such file\n.*missing\.yaml: storage s3 needs a bucket/);
  });

  test('prints a summary, and warnings with their lines', async () => {
    const overrides = file('overrides.yaml', 'overrides:\n  acme: {max_query_series: 7, nosuch: 1}\n');
    const config = file(
      'good.yaml',
      `auth_enabled: \${AUTH:false}\nquerier: {max_concurent: 3}\nserver: {log_level: warn}\nruntime_config: {file: ${overrides}}\n`,
    );
    const { code, stdout, stderr } = await logboom(['config', 'check', config]);
    expect([code, stdout]).toEqual([
      0,
      `${config}: valid, 3 keys differ from the defaults\n${overrides}: valid, overrides of 1 tenant\n`,
    ]);
    expect(stderr).toMatch(
      /^warning: .*querier\.max_concurent \(line 2; do you mean max_concurrent\?\)\nwarning: .*nosuch/,
    );
  });

  test('prints the configuration in force without secrets with --print', async () => {
    const config = file('print.yaml', 'ruler: {alertmanager_url: "http://me:$' + '{PASSWORD}@am:9093"}\n');
    const { code, stdout } = await logboom(['config', 'check', config, '--print'], {
      env: { PASSWORD: 'hunter2' },
    });
    expect(code).toBe(0);
    expect(stdout).not.toContain('hunter2');
    expect(parseYaml(stdout)).toMatchObject({
      ruler: { alertmanager_url: 'http://me:<secret>@am:9093/' },
      server: { http_listen_port: 3100 },
    });
  });
});
