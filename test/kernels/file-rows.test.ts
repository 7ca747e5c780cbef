/** Rows as bytes of a file: the kernel against a plain version, and under guard. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type FileFormat, type FileRows, FileWriter } from '../../shared/base/kernels/file-rows.ts';
import { NS_OF_DAY } from '../../shared/base/model/time-units.ts';
import { type Guard, guardKernels } from './guard.ts';
import { hostileText } from './hostile.ts';
import { fileOf } from './oracles/file-rows.ts';

const LABELS = ['Z {} ', `Z ${'x'.repeat(300)} ü `, ''];

const formats: fc.Arbitrary<FileFormat> = fc.constantFrom(
  { kind: 'text', head: '', labels: [], tail: '' },
  { kind: 'json', head: '{"t":"2026-01-05T', labels: LABELS, tail: '"}\n' },
  { kind: 'csv', head: '2026-01-05T', labels: LABELS, tail: '\n' },
);

interface Given {
  readonly rows: FileRows;
  readonly lines: Buffer;
}

const someRows: fc.Arbitrary<Given> = fc
  .array(
    fc.record({
      line: fc.oneof(
        { weight: 5, arbitrary: hostileText },
        { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
      ),
      time: fc.oneof(fc.constantFrom(0, NS_OF_DAY - 1), fc.integer({ min: 0, max: NS_OF_DAY - 1 })),
      labels: fc.nat(LABELS.length - 1),
      place: fc.nat(),
    }),
    { maxLength: 30 },
  )
  .map(all => {
    let end = 0;
    const starts = Uint32Array.from(all, ({ line }) => (end += line.length) - line.length);
    const order = Uint32Array.from([...all.keys()].sort((a, b) => all[a].place - all[b].place || a - b));
    const rows = {
      count: all.length,
      order,
      times: Float64Array.from(all, ({ time }) => time),
      starts,
      ends: Uint32Array.from(all, ({ line }, i) => starts[i] + line.length),
      labels: Uint32Array.from(all, ({ labels }) => labels),
    };
    return { rows, lines: Buffer.concat(all.map(({ line }) => line)) };
  });

function written(writer: FileWriter, { rows, lines }: Given, format: FileFormat): Buffer {
  lines.copy(writer.lines(lines.length));
  const output = Buffer.alloc(writer.begin(rows, lines.length, format));
  let at = 0;
  for (let more = writer.next(output, at); more > 0; more = writer.next(output, at)) at += more;
  expect(at).toBe(output.length);
  return output;
}

describe('rows of a file', () => {
  test('equal those of the plain version', () => {
    const writer = new FileWriter();
    fc.assert(
      fc.property(someRows, formats, (given, format) => {
        expect(written(writer, given, format).toString('latin1')).toBe(
          fileOf(given.rows, given.lines, format).toString('latin1'),
        );
      }),
    );
  });

  test.each([
    ['text', { kind: 'text', head: '', labels: [], tail: '' }],
    ['JSON', { kind: 'json', head: '{"t":"', labels: ['Z","l":"', `Z${'l'.repeat(3e6)}`], tail: '"}\n' }],
    ['CSV', { kind: 'csv', head: '', labels: ['Z,', `Z${'l'.repeat(3e6)}`], tail: '\n' }],
  ] as const)('rows longer than a part continue in the next: %s', (_, format) => {
    const line = Buffer.from(`${'"\n\\x'.repeat(600_000)}ü`);
    const count = 3;
    const rows = {
      count,
      order: Uint32Array.of(2, 0, 1),
      times: Float64Array.of(1, 2, 3),
      starts: Uint32Array.of(0, line.length, line.length),
      ends: Uint32Array.of(line.length, line.length, 2 * line.length),
      labels: Uint32Array.of(0, 1, 1),
    };
    const given = { rows, lines: Buffer.concat([line, line]) };
    const writer = new FileWriter();
    expect(written(writer, given, format).equals(fileOf(rows, given.lines, format))).toBe(true);
  });

  test('characters that are cut between two lines are replaced in both', () => {
    const lines = Buffer.from('aéb');
    const rows = {
      count: 2,
      order: Uint32Array.of(0, 1),
      times: Float64Array.of(0, 0),
      starts: Uint32Array.of(0, 2),
      ends: Uint32Array.of(2, 4),
      labels: Uint32Array.of(0, 0),
    };
    const format = { kind: 'csv', head: '', labels: ['Z,'], tail: '\n' } as const;
    expect(written(new FileWriter(), { rows, lines }, format).toString()).toBe(
      '00:00:00.000000000Z,a\ufffd\n00:00:00.000000000Z,\ufffdb\n',
    );
  });
});

describe('under guard', () => {
  let guard: Guard;
  beforeAll(() => {
    guard = guardKernels();
  });
  afterAll(() => guard.release());

  test('reads and writes stay within the layout', () => {
    const writer = new FileWriter();
    fc.assert(
      fc.property(someRows, formats, (given, format) => {
        guard.allow([[0, 2 ** 32]]);
        written(writer, given, format);
        guard.allow([[4096, writer.laidBytes]]);
        written(writer, given, format);
        expect(guard.faults).toEqual([]);
      }),
      { numRuns: 50 },
    );
    expect(guard.accesses).toBeGreaterThan(1000);
  });
});
