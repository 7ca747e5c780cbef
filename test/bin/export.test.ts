/** `logboom export` against the store itself. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { zstdDecompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { parquetReadObjects } from 'hyparquet';
import { NS_PER_DAY, NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { type ServerProcess, startProcess } from '../end-to-end/support/server-process.ts';
import { logboom } from './run-command.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-export-test-'));
/** Two days ago, 22:00 UTC: the entries are of two days. */
const START_NS =
  ((BigInt(Date.now()) * 1_000_000n) / NS_PER_DAY) * NS_PER_DAY - NS_PER_DAY - 2n * NS_PER_HOUR;
const LINES = Array.from({ length: 4000 }, (_, i) =>
  i % 2 === 0
    ? JSON.stringify({ n: i, took: i / 8, ok: i % 4 === 0, msg: `ü "${i}"` })
    : `n=${i} took=${i / 8} ok=true msg="m ${i}"`,
);
const timeOf = (i: number) => START_NS + (BigInt(i) * NS_PER_HOUR) / 1000n;
const RANGE = ['--from', `${START_NS}`, '--to', `${START_NS + 4n * NS_PER_HOUR}`];
let store: ServerProcess;

beforeAll(async () => {
  const config = join(folder, 'config.yaml');
  writeFileSync(config, 'auth_enabled: false\nlimits_config: {reject_old_samples: false}\n');
  store = await startProcess(config, join(folder, 'data'));
  const streams = ['web', 'api'].map((app, at) => ({
    stream: { app, service_name: `${app}/1` },
    values: LINES.flatMap((line, i) => (i % 2 === at ? [[`${timeOf(i)}`, line, { trace: `t${i}` }]] : [])),
  }));
  const response = await fetch(`${store.url}/loki/api/v1/push`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ streams }),
  });
  expect(response.status).toBe(204);
});

afterAll(async () => {
  await store?.end('SIGTERM');
  rmSync(folder, { recursive: true, force: true });
});

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  logboom(['export', '{app=~".+"}', '--addr', store.url, ...RANGE, '--batch', '700', ...args], { env });

async function rowsOf(path: string) {
  const bytes = readFileSync(path);
  const file = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  return (await parquetReadObjects({
    file,
    compressors: { ZSTD: packed => zstdDecompressSync(packed) },
  })) as Record<string, unknown>[];
}

describe('logboom export', () => {
  test('writes all lines in time order, for any parts', async () => {
    const whole = await run(['--part', '17m', '--parallel', '3']);
    expect(whole).toEqual({ code: 0, stdout: `${LINES.join('\n')}\n`, stderr: '' });
    const output = join(folder, 'out.csv');
    const csv = await run(['--format', 'csv', '-O', output]);
    expect(csv).toEqual({ code: 0, stdout: '', stderr: 'logboom: exported 4000 entries\n' });
    const rows = readFileSync(output, 'utf8').trimEnd().split(/\r?\n/);
    expect(rows.filter(row => row === 'timestamp,labels,metadata,line')).toHaveLength(1);
    expect(rows).toHaveLength(4001);
    // Only the headings of later parts are omitted.
    expect(rows.filter(row => /^\d{4}-\d\d-\d\dT/.test(row))).toHaveLength(4000);
    const [first] = (await run(['--format', 'jsonl'])).stdout.split('\n', 1);
    expect(JSON.parse(first)).toMatchObject({
      labels: { app: 'web', service_name: 'web/1' },
      metadata: { trace: 't0' },
      line: LINES[0],
    });
  });

  test('continues where it stopped, and leaves no unfinished files', async () => {
    const parts = join(folder, 'parts');
    const args = ['--parts-dir', parts, '--format', 'jsonl'];
    expect((await run(args)).stderr).toBe('logboom: exported 4000 entries in 4 files\n');
    const names = readdirSync(parts).filter(name => name.endsWith('.jsonl') && !name.startsWith('_'));
    expect(names).toHaveLength(4);
    const text = () => names.map(name => readFileSync(join(parts, name), 'utf8')).join('');
    const before = text();
    expect(
      before
        .trimEnd()
        .split('\n')
        .map(line => JSON.parse(line).line),
    ).toEqual(LINES);
    // As if the export had been killed before the last part was complete.
    const state = join(parts, '_export.jsonl');
    const lines = readFileSync(state, 'utf8').trimEnd().split('\n');
    writeFileSync(state, `${lines.slice(0, -1).join('\n')}\n{"tenant":"`);
    const start = new Date(Number(JSON.parse(lines.at(-1)!).start) / 1e6).toISOString().replaceAll(':', '');
    rmSync(join(parts, `${start}.jsonl`));
    expect((await run(args)).stderr).toContain(' in 1 files; 3000 entries were already exported\n');
    expect(readdirSync(parts).filter(name => !name.startsWith('_'))).toEqual(names);
    expect(text()).toBe(before);
    const other = await run([...args, '--part', '2h']);
    expect([other.code, other.stderr.includes('name another file with --state')]).toEqual([1, true]);
  });

  test('writes Parquet in folders for tenant, day and service, with typed columns', async () => {
    const lake = join(folder, 'lake');
    expect((await run(['--parts-dir', lake, '--format', 'parquet', '--hive'])).code).toBe(0);
    const paths = readdirSync(lake, { recursive: true, encoding: 'utf8' }).filter(path =>
      path.endsWith('.parquet'),
    );
    const day = (ns: bigint) => new Date(Number(ns / 1_000_000n)).toISOString().slice(0, 10);
    const folders = [day(START_NS), day(START_NS + 3n * NS_PER_HOUR)].flatMap(each =>
      ['api%2F1', 'web%2F1'].map(service => join('tenant=fake', `day=${each}`, `service=${service}`)),
    );
    expect([...new Set(paths.map(path => join(path, '..')))].sort()).toEqual(folders.sort());
    const rows = (await Promise.all(paths.map(path => rowsOf(join(lake, path))))).flat();
    rows.sort((a, b) => Number((a.timestamp_ns as bigint) - (b.timestamp_ns as bigint)));
    expect(rows.map(row => row.line)).toEqual(LINES);
    expect(rows[2]).toMatchObject({
      timestamp_ns: timeOf(2),
      labels: expect.objectContaining({ app: 'web' }),
      metadata: expect.objectContaining({ trace: 't2' }),
      field_n: 2n,
      field_took: 0.25,
      field_ok: false,
      field_msg: 'ü "2"',
    });
    expect((rows[2].timestamp as Date).toISOString()).toBe(
      new Date(Number(timeOf(2) / 1_000_000n)).toISOString(),
    );
    expect(rows[1]).toMatchObject({ field_n: 1n, field_took: 0.125, field_ok: true });
  });

  test('writes no entry twice after an interrupted Parquet part, although its files have other names', async () => {
    const lake = join(folder, 'twice');
    const args = ['--parts-dir', lake, '--format', 'parquet', '--hive'];
    expect((await run(args)).code).toBe(0);
    const files = () =>
      readdirSync(lake, { recursive: true, encoding: 'utf8' }).filter(path => path.endsWith('.parquet'));
    const state = join(lake, '_export.jsonl');
    const lines = readFileSync(state, 'utf8').trimEnd().split('\n');
    const last = JSON.parse(lines.at(-1)!) as { start: string; files?: string[] };
    const begun = lines.map(line => JSON.parse(line) as typeof last).filter(line => line.files !== undefined);
    // The names are noted before the files are there.
    expect(begun.flatMap(line => line.files).sort()).toEqual(files().sort());
    // As if the export had been killed in the last part, with a file of a service that is now written to
    // another file.
    const stray = join('tenant=fake', 'day=2026-01-05', 'service=gone', 'part-7.parquet');
    mkdirSync(join(lake, stray, '..'), { recursive: true });
    writeFileSync(join(lake, stray), readFileSync(join(lake, files()[0])));
    const { entries: _, ...part } = last as typeof last & { entries?: number };
    const interrupted = [...lines.slice(0, -1), JSON.stringify({ ...part, files: [stray] })];
    writeFileSync(state, `${interrupted.join('\n')}\n`);
    expect((await run(args)).stderr).toContain('; 3000 entries were already exported\n');
    expect(files()).not.toContain(stray);
    const rows = (await Promise.all(files().map(path => rowsOf(join(lake, path))))).flat();
    expect(rows.map(row => row.line).sort()).toEqual([...LINES].sort());
  });

  test('writes the same from a store without the export endpoint', async () => {
    // Passes requests on, but does not know the endpoint, as Loki does not.
    const server = createServer(async (request, response) => {
      if (request.url!.includes('/export')) return void response.writeHead(404).end('404 page not found');
      const answer = await fetch(`${store.url}${request.url}`, {
        headers: { 'x-loki-response-encoding-flags': 'categorize-labels' },
      });
      response.writeHead(answer.status).end(await answer.text());
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    for (const format of ['text', 'jsonl', 'csv']) {
      const [here, there] = await Promise.all([
        run(['--format', format]),
        run(['--format', format, '--addr', address]),
      ]);
      expect(here.code).toBe(0);
      expect(there).toEqual(here);
    }
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
  });

  test('puts parts into S3, and repeats failed ones', async () => {
    const objects = new Map<string, number>();
    const deleted: string[] = [];
    let requests = 0;
    const server = createServer((request, response) => {
      let bytes = 0;
      request.on('data', piece => (bytes += piece.length));
      request.on('end', () => {
        if (++requests === 1) response.writeHead(503).end();
        else if (request.method === 'DELETE') {
          deleted.push(request.url!.replace(/\?.*/, ''));
          response.writeHead(204).end();
        } else {
          objects.set(request.url!.replace(/\?.*/, ''), bytes);
          response.writeHead(200).end();
        }
      });
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const env = {
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
    mkdirSync(join(folder, 's3'));
    const args = [
      '--to',
      's3://lake-1/logs/',
      '--s3-endpoint',
      endpoint,
      '--state',
      join(folder, 's3', 'state'),
    ];
    const { code, stderr } = await run(args, env);
    expect([code, stderr]).toEqual([0, 'logboom: exported 4000 entries in 4 files\n']);
    // As if the last part had been interrupted after another file.
    const lines = readFileSync(join(folder, 's3', 'state'), 'utf8')
      .trimEnd()
      .split('\n');
    const { entries: _, ...part } = JSON.parse(lines.at(-1)!);
    const interrupted = [...lines.slice(0, -1), JSON.stringify({ ...part, files: ['old/part-7.parquet'] })];
    writeFileSync(join(folder, 's3', 'state'), `${interrupted.join('\n')}\n`);
    expect((await run(args, env)).stderr).toContain('exported 1000 entries in 1 files');
    expect(deleted).toEqual(['/lake-1/logs/old/part-7.parquet']);
    server.closeAllConnections();
    await new Promise(resolve => server.close(resolve));
    expect(objects.size).toBe(4);
    for (const [key, bytes] of objects) {
      expect(key).toMatch(/^\/lake-1\/logs\/\d{4}-\d\d-\d\dT\d{6}\.000Z\.log$/);
      expect(bytes).toBeGreaterThan(1000);
    }
  });

  test.each([
    [['--format', 'parquet'], 2, 'needs --parts-dir or --to s3://'],
    [['--hive'], 2, '--hive needs --format parquet'],
    [['--to', 's3://X'], 2, 's3://BUCKET/PREFIX'],
    [['--to', 'http://x'], 2, 'A time is written like'],
    [['--to', 's3://lake-1', '--parts-dir', 'x'], 2, 'cannot be used with --output or --parts-dir'],
    [['--part', '10ms'], 2, 'at least 1s'],
    [['--since', '999d', '--part', '1s'], 2, 'make them longer'],
  ])('refuses %j', async (args, code, message) => {
    const outcome = await logboom(['export', '{app=~".+"}', '--addr', store.url, ...args]);
    expect(outcome.code).toBe(code);
    expect(outcome.stderr).toContain(message);
  });

  test('refuses a metric query', async () => {
    const { code, stderr } = await logboom(['export', 'rate({app="web"}[1m])', '--addr', store.url]);
    expect([code, stderr]).toEqual([
      1,
      'logboom: 400 Bad Request: an export needs a log query; this is a metric query\n',
    ]);
  });
});
