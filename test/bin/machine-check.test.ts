import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from '@jest/globals';
import { checkMachine, type MachineToCheck, machineText } from '../../bin/cli/machine-check.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-machine-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function check(more: Partial<MachineToCheck>): Promise<Record<string, string>> {
  const findings = await checkMachine({
    storage: { kind: 'embedded', dataDir: folder },
    listen: undefined,
    clock: SYSTEM_CLOCK,
    environment: {},
    ...more,
  });
  return Object.fromEntries(findings.map(({ what, state, text }) => [what, `${state}: ${text}`]));
}

const embedded = (dataDir: string) => ({ kind: 'embedded', dataDir }) as const;

test('checks a folder that exists, one that can be created, and one that cannot', async () => {
  expect((await check({})).folder).toBe(`ok: ${folder} is writable`);
  const below = join(folder, 'a', 'b');
  expect((await check({ storage: embedded(below) })).folder).toBe(`ok: ${below} can be created`);
  expect(readdirSync(folder)).toEqual([]);
  const file = join(folder, 'file');
  writeFileSync(file, '');
  expect((await check({ storage: embedded(file) })).folder).toMatch(
    /^missing: .* is not writable \(ENOTDIR\)/,
  );
  rmSync(file);
});

test('checks a used port and a free one', async () => {
  const server = createServer();
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const listen = { host: '127.0.0.1', port };
  expect((await check({ listen })).port).toMatch(/^warning: 127\.0\.0\.1, port \d+ is in use/);
  await new Promise(resolve => server.close(resolve));
  expect((await check({ listen })).port).toMatch(/^ok: .* is free$/);
});

test('checks a clock that was never set, and one that was set back', async () => {
  const at = (ms: number) => ({ clock: { ...SYSTEM_CLOCK, nowMs: () => ms } });
  expect((await check(at(0))).clock).toMatch(/^missing: 1970-01-01/);
  const dataDir = join(folder, 'store');
  mkdirSync(dataDir);
  writeFileSync(join(dataDir, 'catalog.sqlite'), '');
  const nowMs = Date.UTC(2026, 10, 1);
  utimesSync(join(dataDir, 'catalog.sqlite'), nowMs / 1000, nowMs / 1000 + 3600);
  expect((await check({ storage: embedded(dataDir), ...at(nowMs) })).clock).toMatch(
    /^warning: .*last written after that time; set the clock$/,
  );
});

test('checks settings of AWS', async () => {
  const s3 = { kind: 's3', bucket: 'b', table: 't' } as const;
  const AWS_SHARED_CREDENTIALS_FILE = join(folder, 'none');
  const bare = await check({ storage: s3, environment: { AWS_SHARED_CREDENTIALS_FILE } });
  expect(bare.credentials).toMatch(/^warning: not found/);
  expect(bare.region).toMatch(/^warning: not set/);
  expect(bare.folder).toBeUndefined();
  const set = await check({
    storage: s3,
    environment: { AWS_ACCESS_KEY_ID: 'x', AWS_REGION: 'eu-central-1' },
  });
  expect(set).toMatchObject({ credentials: 'ok: from the environment', region: 'ok: eu-central-1' });
  const gone = await check({ storage: { ...s3, endpoint: 'http://127.0.0.1:1' } });
  expect(gone.endpoint).toBe('missing: http://127.0.0.1:1 does not respond (ECONNREFUSED)');
});

test('prints a table', () => {
  expect(machineText([{ state: 'missing', what: 'disk', text: 'x' }])).toBe('missing  disk         x\n');
});
