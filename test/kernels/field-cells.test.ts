/** Cells of a field: the kernel against a plain version, and under guard. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  type CodedCells,
  type FieldParser,
  FieldScanner,
  type KeyList,
} from '../../shared/base/kernels/field-scanner.ts';
import { jsonStringValue, unquoteLogfmt } from '../../shared/base/text/text.ts';
import { textAt, textCount } from '../../shared/storage/columns/text-list.ts';
import { jsonLines, logfmtLines } from '../fields/lines.ts';
import { bySuite } from '../support/suite.ts';
import { type Guard, guardKernels } from './guard.ts';
import { type Page, pageOf } from './hostile.ts';
import { type PlainCells, plainCells } from './oracles/field-cells.ts';

class AllKeys implements KeyList {
  readonly texts: Buffer[] = [];
  readonly parents: number[] = [];
  readonly flags: number[] = [];

  add(text: Buffer, parent: number): void {
    this.texts.push(Buffer.from(text));
    this.parents.push(parent);
    this.flags.push(0);
  }
}

/** As in shared/storage/columns/column-cells.ts. */
function readEscaped(parser: FieldParser, lines: Buffer, start: number, end: number): string | undefined {
  if (lines.utf8Slice(start, end).includes('\ufffd')) return undefined;
  const text = parser === 'json' ? jsonStringValue(lines, start, end) : unquoteLogfmt(lines, start, end);
  return text === '' || text?.includes('\ufffd') ? undefined : text;
}

function plainly(cells: CodedCells): PlainCells {
  const codes = [...cells.codes];
  const textsOf = (list: Parameters<typeof textAt>[0]) =>
    Array.from({ length: textCount(list) }, (_, i) => textAt(list, i).latin1Slice());
  if (cells.kind === 'dictionary') return { kind: 'dictionary', codes, values: textsOf(cells.values) };
  const shapes = cells.shapes.map(({ places, unit }) => `${places}${unit.latin1Slice()}`);
  return { kind: 'number', codes, mantissas: [...cells.mantissas], shapes, texts: textsOf(cells.texts) };
}

const small: fc.Arbitrary<Page> = fc
  .array(fc.oneof(jsonLines, logfmtLines), { maxLength: 12 })
  .map(lines => pageOf(lines.map(line => Buffer.from(line))));

/** Values of a field in many lines: how each row's text follows from a random number. */
const KINDS: Readonly<Record<string, (n: number) => string>> = {
  'few words': n => `w${n % 5}`,
  'some hundred words': n => `word-${n % 700}`,
  'different words': n => `id${n}`,
  'long words': n => `${n % 900}`.padStart(100, 'x'),
  'few numbers': n => `${n % 300}`,
  'many numbers': n => `${n}`,
  measures: n => `${(n % 100_000) / 1000}ms`,
  'measures of many units': n => `${n % 1000}${'abcdefghijklmnopqrst'[n % 20]}`,
  'numbers, few texts': n => (n % 40 === 0 ? `none${n % 3}` : `${n}`),
  'numbers, many texts': n => (n % 5 === 0 ? `none${n}` : `${n}`),
  'escapes between numbers': n => (n % 30 === 0 ? '\\u00e9' : `${n}.5`),
  'escaped words': n => `a\\n${n % 7}`,
  'bytes that are no text': n => (n % 9 === 0 ? '\xff' : `${n % 3}`),
  'long values': n => (n % 7 === 0 ? 'z'.repeat(129) : `${n % 400}`),
};
const large: fc.Arbitrary<Page> = fc
  .record({
    kind: fc.constantFrom(...Object.keys(KINDS)),
    rows: fc.constantFrom(40, 300, 1500),
    seed: fc.nat(),
    form: fc.constantFrom('json', 'logfmt', 'both'),
  })
  .map(({ kind, rows, seed, form }) => {
    let state = seed;
    const lines = Array.from({ length: rows }, (_, row) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      const text = KINDS[kind](state >>> 8);
      const isJson = form === 'json' || (form === 'both' && row % 2 === 0);
      if (row % 50 === 49) return Buffer.from(isJson ? '{"b":1}' : 'b=1');
      return Buffer.from(isJson ? `{"a":"${text}","b":1}` : `b=1 a="${text}"`, 'latin1');
    });
    return pageOf(lines);
  });

describe.each(['as compiled', 'under guard'])('cells of fields, %s', kind => {
  let guard: Guard | undefined;
  let scanner: FieldScanner;
  beforeAll(() => {
    guard = kind === 'under guard' ? guardKernels() : undefined;
    scanner = new FieldScanner();
  });
  afterAll(() => guard?.release());

  /** Compares all keys of a page; returns the kinds of their cells. */
  function check({ lines, lineOffsets, rows }: Page): string[] {
    guard?.allow([[4096, scanner.memoryBytes(lines.length)]]);
    const keys = { json: new AllKeys(), logfmt: new AllKeys() };
    const parserOf = new Uint8Array(rows);
    scanner.begin(lines, keys);
    scanner.read(lineOffsets, 0, rows, parserOf);
    const members = scanner.end();
    const kinds: string[] = [];
    for (const parser of ['json', 'logfmt'] as const) {
      const source = { lines, rows, parserOf, parser, members: members[parser], readEscaped };
      for (let key = 0; key < keys[parser].texts.length; key++) {
        const others = keys[parser].texts.length > 2 && key % 3 === 0 ? [(key + 1) % 3] : [];
        const limits = { parserOf, rows, maxFallbackRows: rows };
        const found = scanner.cells(parser, key, others, limits, readEscaped);
        const wanted = plainCells(source, key, others);
        expect(found && plainly(found)).toEqual(wanted);
        expect(found?.fallbackRows).toBe(wanted?.codes.filter(code => code === 1).length);
        kinds.push(found?.kind ?? 'none');
      }
    }
    expect(guard?.faults ?? []).toEqual([]);
    return kinds;
  }

  test('are those of the plain version', () => {
    const seen = new Set<string>();
    const numRuns = kind === 'under guard' ? 100 : 600;
    fc.assert(
      fc.property(small, page => void check(page)),
      { numRuns },
    );
    fc.assert(
      fc.property(large, page => {
        for (const found of check(page)) seen.add(found);
      }),
      { numRuns: bySuite({ fast: 40, full: numRuns }) },
    );
    expect([...seen].sort()).toEqual(['dictionary', 'none', 'number']);
  });

  test.each(Object.keys(KINDS))('%s in 1,500 lines', name => {
    const lines = Array.from({ length: 1500 }, (_, row) =>
      Buffer.from(`{"a":"${KINDS[name]((row * 2_654_435_761) % 1_000_003)}","b":${row % 3}}`, 'latin1'),
    );
    expect(check(pageOf(lines))).toHaveLength(2);
  });

  test.each([1, 2, 3, 4, 5, 16, 17, 256, 257, 1026])('%d codes are packed', count => {
    guard?.allow([[4096, scanner.memoryBytes(0)]]);
    const own = Array.from({ length: count }, (_, i) => 1026 - count + i);
    const codes = Uint32Array.from({ length: 3 * count + 5 }, (_, row) => own[(row * 7 + 3) % count]);
    for (const code of own) codes[code % codes.length] = code;
    const inUse = [...new Set(codes)].sort((a, b) => a - b);
    const bits = inUse.length > 256 ? 8 : [0, 1, 2, 4, 8].find(n => 2 ** n >= inUse.length)!;
    const planes = inUse.length > 256 ? 2 : 1;
    const bytes = planes * Math.ceil((codes.length * bits) / 8);
    const { used, numbers } = scanner.packCodes(codes, found => {
      expect(found).toBe(inUse.length);
      return bytes;
    });
    expect([...used]).toEqual(inUse);
    const numberOf = (row: number) => {
      if (planes === 2) return numbers[row] + 256 * numbers[codes.length + row];
      if (bits === 0) return 0;
      return (numbers[Math.floor((row * bits) / 8)] >>> ((row * bits) % 8)) & (2 ** bits - 1);
    };
    expect([...codes].map((_, row) => inUse[numberOf(row)])).toEqual([...codes]);
    expect(guard?.faults ?? []).toEqual([]);
  });

  test('more fallback rows than allowed: no cells', () => {
    const { lines, lineOffsets, rows } = pageOf(['{"a":[1]}', '{"a":[2]}', '{"a":3}'].map(Buffer.from));
    guard?.allow([[4096, scanner.memoryBytes(lines.length)]]);
    const parserOf = new Uint8Array(rows);
    scanner.begin(lines, { json: new AllKeys(), logfmt: new AllKeys() });
    scanner.read(lineOffsets, 0, rows, parserOf);
    scanner.end();
    const cells = (maxFallbackRows: number) =>
      scanner.cells('json', 0, [], { parserOf, rows, maxFallbackRows }, readEscaped);
    expect(cells(1)).toBeUndefined();
    expect([...cells(2)!.codes]).toEqual([1, 1, 2]);
  });

  test('distinct values: their number, or more than a dictionary holds, without escapes and long ones', () => {
    const distinctOf = (texts: readonly string[]) => {
      const { lines, lineOffsets, rows } = pageOf(texts.map(text => Buffer.from(`{"a":"${text}"}`)));
      guard?.allow([[4096, scanner.memoryBytes(lines.length)]]);
      scanner.begin(lines, { json: new AllKeys(), logfmt: new AllKeys() });
      scanner.read(lineOffsets, 0, rows, new Uint8Array(rows));
      scanner.end();
      return scanner.distinctValues('json', 0);
    };
    const texts = Array.from({ length: 1024 }, (_, i) => `v${i}`);
    const more = Array.from({ length: 9 }, (_, i) => `\\n${i}${'x'.repeat(130)}`);
    expect(distinctOf([...texts, ...texts, ...more])).toBe(1024);
    expect(distinctOf(['a', 'b', 'a'])).toBe(2);
    expect(distinctOf([...texts, 'v1024'])).toBe(Infinity);
    expect(distinctOf(texts.slice(0, 300).map(text => text.padStart(120, 'y')))).toBe(Infinity);
    expect(guard?.faults ?? []).toEqual([]);
  });
});

test('cells of a page whose lines need several calls', () => {
  const scanner = new FieldScanner();
  const long = 'x'.repeat(1_500_000);
  const { lines, lineOffsets, rows } = pageOf(
    [`{"a":"u","b":"${long}"}`, `{"a":"v","b":"${long}"}`, '{"a":"u"}'].map(line => Buffer.from(line)),
  );
  const parserOf = new Uint8Array(rows);
  scanner.begin(lines, { json: new AllKeys(), logfmt: new AllKeys() });
  scanner.read(lineOffsets, 0, rows, parserOf);
  const members = scanner.end();
  expect([...parserOf]).toEqual([1, 1, 1]);
  const limits = { parserOf, rows, maxFallbackRows: rows };
  expect([...scanner.cells('json', 0, [], limits, readEscaped)!.codes]).toEqual([2, 3, 2]);
  expect(members.json.count).toBe(5);
});
