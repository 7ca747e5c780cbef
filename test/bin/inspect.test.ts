import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { table } from '../../bin/cli/chunk-text.ts';
import { encodeFooter } from '../../shared/storage/chunk/footer-codec.ts';
import type { PageMeta } from '../../shared/storage/chunk/format.ts';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import { withDecodedColumns } from '../../shared/storage/chunk/stored-page.ts';
import { refusedBy } from './refused-by.ts';
import { logboom } from './run-command.ts';

const GOLDEN = join(import.meta.dirname, '../chunk/golden/v1.chunk');
const golden = JSON.parse(readFileSync(GOLDEN.replace('.chunk', '.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'logboom-inspect-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A copy of a golden file with one byte changed. */
function damaged(name: string, at: (bytes: number) => number, golden = GOLDEN): string {
  const object = readFileSync(golden);
  object[at(object.length)] ^= 0x40;
  const path = join(folder, name);
  writeFileSync(path, object);
  return path;
}

describe('logboom inspect', () => {
  test('shows footer, streams, pages with runs and columns, and levels', async () => {
    const { code, stdout, stderr } = await logboom(['inspect', GOLDEN]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const shown = stdout.replace(/ +/g, ' ');
    for (const line of [
      'chunk 0123456789abcdef0123456789abcdef',
      'tenant golden',
      'day 2025-11-20',
      'first 2025-11-20T08:20:00.000000000Z',
      'entries 400',
      'bytes 17711 of lines, 11136 of metadata, 4974 stored (5.8x)',
      ' 7 {app="shop", service_name="shop", zone="z3"}',
      'page 0: 400 rows, 17711 bytes of lines, 4232 stored at offset 0, timestamps in units of 1 ns',
      ' 1 66 67 3008 2025-11-20T08:20:01.234567891Z 2025-11-20T08:28:10.123452727Z',
      ' metadata detected_level 27 400 14.8x zstd 3 in footer ok',
      ' lines - 2650 17711 6.7x zstd - ok',
      ' error 133 5981 3813',
    ]) {
      expect(shown.split('\n')).toContain(line);
    }
  });

  test('--json agrees with the footer that the golden file is known to have', async () => {
    const { code, stdout } = await logboom(['inspect', GOLDEN, '--json']);
    expect(code).toBe(0);
    const report = JSON.parse(stdout);
    const { id, tenant, level, rows, lineBytes, metadataBytes, streams, pages } = golden;
    expect(report).toMatchObject({ id, tenant, level, rows, lineBytes, metadataBytes });
    expect(report.streams).toEqual(streams.map(({ text }: { text: string }) => text));
    expect(report.pages).toHaveLength(pages.length);
    const columnsOf = (columns: { name: string }[]) => columns.map(({ name }) => name);
    expect(columnsOf(report.pages[0].columns)).toEqual(columnsOf(pages[0].columns));
    expect(report.levels).toContainEqual({
      level: 'info',
      entries: 134,
      lineBytes: 5861,
      metadataBytes: 3689,
    });
  });

  test('--page prints rows, as text or as JSON', async () => {
    const json = await logboom(['inspect', GOLDEN, '--page', '0', '--json']);
    expect(json.code).toBe(0);
    const rows = json.stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    const want = golden.entries.map(({ stream, line, metadata }: Record<string, unknown>) => {
      return { labels: stream, line, metadata };
    });
    expect(rows.map(({ timestamp: _, ...row }) => row)).toEqual(want);
    expect(rows[0].timestamp).toBe('2025-11-20T08:20:04.938271564Z');
    const text = await logboom(['inspect', GOLDEN, '--page', '0']);
    expect(text.stdout.split('\n')[0]).toBe(
      '2025-11-20T08:20:04.938271564Z {app="billing", service_name="shop", zone="z0"} ' +
        '{detected_level="warn", trace_id="278dde6c4"} level=warn msg="request 4 größe=16" took=4ms',
    );
  });

  test('reports a corrupt column next to the sound ones', async () => {
    const path = damaged('column.chunk', () => 2000);
    const { code, stdout, stderr } = await logboom(['inspect', path]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^logboom: .*column\.chunk: page 0: column lines: checksum \d+, expected \d+\n$/);
    expect(stdout.replace(/ +/g, ' ')).toContain(' lines - 2650 17711 6.7x zstd - CORRUPT\n');
    expect(stdout.replace(/ +/g, ' ')).toContain(' lengths - 167 400 2.4x zstd - ok\n');
    const page = await logboom(['inspect', path, '--page', '0']);
    expect(page).toMatchObject({ code: 1, stdout: '' });
    expect(page.stderr).toContain('checksum');
  });

  test('reports a corrupt section next to the sound ones', async () => {
    const enriched = GOLDEN.replace('v1.chunk', 'v5-enriched.chunk');
    const { sections } = footerOf(readFileSync(enriched), 'golden');
    const [{ kind, block }] = sections;
    const path = damaged('section.chunk', () => block.offset + (block.storedBytes >> 1), enriched);
    const { code, stdout, stderr } = await logboom(['inspect', path]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^logboom: .*section\.chunk: section of kind \d+: checksum \d+, expected \d+\n$/);
    const shown = stdout.replace(/ +/g, ' ');
    for (const one of sections) {
      const { storedBytes } = one.block;
      expect(shown).toContain(` kind ${one.kind} ${storedBytes} ${one.kind === kind ? 'CORRUPT' : 'ok'}\n`);
    }
    expect(sections.length).toBeGreaterThan(1);
  });

  test.each<[string, (page: PageMeta) => Partial<PageMeta>, string]>([
    [
      'lines',
      ({ lineBytes }) => ({ lineBytes: lineBytes + 1 }),
      'lengths add up to 17711 bytes, expected 17712',
    ],
    ['times', () => ({ scale: 9 }), 'unknown scale 9'],
    ['place', ({ offset }) => ({ offset: offset + 100_000 }), 'ends at byte 104232, but the object has'],
  ])('a page whose checksums are right but which does not decode: %s', async (name, change, message) => {
    const object = readFileSync(GOLDEN);
    const footer = footerOf(object, 'golden');
    const tail = encodeFooter({
      ...footer,
      pages: footer.pages.map(page => ({ ...withDecodedColumns(page), ...change(page) })),
    });
    const path = join(folder, `${name}.chunk`);
    writeFileSync(path, Buffer.concat([object.subarray(0, footer.pages[0].storedBytes), tail]));
    const { code, stdout, stderr } = await logboom(['inspect', path]);
    expect(code).toBe(1);
    expect(stderr).toContain(message);
    expect(stdout).toContain(`  CORRUPT: `);
  });

  const footer = damaged('footer.chunk', bytes => bytes - 100);
  const magic = damaged('magic.chunk', bytes => bytes - 1);
  const text = join(folder, 'text.chunk');
  writeFileSync(text, 'no chunk at all, only some words');
  const empty = join(folder, 'empty.chunk');
  writeFileSync(empty, '');
  test.each([
    [[footer], 'footer checksum differs'],
    [[magic], 'does not end as a chunk object'],
    [[text], 'does not end as a chunk object'],
    [[empty], 'does not end as a chunk object'],
    [[folder], 'is a folder, not a file'],
    [[join(folder, 'none')], 'file not found:'],
    [[GOLDEN, '--page', '1'], 'has 1 pages, counted from 0; page 1 does not exist'],
  ])('%j ends with exit code 1 and a message', async (args, message) => {
    const { code, stdout, stderr } = await logboom(['inspect', ...args]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
  });

  test('refuses a page that is not a number', async () => {
    expect(await refusedBy(['inspect', GOLDEN, '--page', 'x'])).toContain('A page is a whole number from 0.');
  });
});

test('prints tables', () => {
  expect(
    table([
      ['a', '>bbb', 'c'],
      ['aaa', '>b', ''],
    ]),
  ).toBe('a    bbb  c\naaa    b\n');
  expect(table([])).toBe('');
});
