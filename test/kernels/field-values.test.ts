/** Values of fields: the kernel against a plain version, and under guard. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { FieldScanner, type KeyList, type LineMembers } from '../../shared/base/kernels/field-scanner.ts';
import { type FieldValues, NO_MEMBERS } from '../../shared/base/kernels/field-values.ts';
import { blockEnd } from '../../shared/base/text/json-scan.ts';
import { parquetTypeOf, typedNumber } from '../../shared/server/open-data/parquet-types.ts';
import { NOTHING, STRUCTURE, VALUE } from '../../shared/storage/columns/line-members.ts';
import { jsonLines, logfmtLines } from '../fields/lines.ts';
import { bySuite } from '../support/suite.ts';
import { type Guard, guardKernels } from './guard.ts';
import { type Page, pageOf } from './hostile.ts';

class TopKeys implements KeyList {
  readonly texts: Buffer[] = [];
  readonly parents: number[] = [];
  readonly flags: number[] = [];

  add(text: Buffer, parent: number): void {
    this.texts.push(Buffer.from(text));
    this.parents.push(parent);
    this.flags.push(parent === 0 ? 0 : 2);
  }
}

interface Value {
  readonly row: number;
  readonly start: number;
  readonly end: number;
  readonly kind: number;
}

/** Values of one parser, by the rules for a key that a line has twice. */
function valuesOf(page: Page, members: LineMembers, key: number, keepsFirst: boolean): Map<number, Value> {
  const byRow = new Map<number, Value>();
  for (let i = members.first[key]; i < members.first[key + 1]; i++) {
    const at = members.order[i];
    const [row, start, kind] = [members.rows[at], members.starts[at], members.kinds[at]];
    if (keepsFirst && byRow.has(row)) continue;
    const after = kind === STRUCTURE ? blockEnd(page.lines, start, page.lineOffsets[row + 1]) : -1;
    const isEnded = after >= 0;
    byRow.set(row, {
      row,
      start,
      end: isEnded ? after : members.ends[at],
      kind: isEnded ? VALUE : kind,
    });
  }
  return byRow;
}

const numberLines = fc
  .oneof(
    fc.double({ noNaN: true }).map(String),
    fc.integer().map(String),
    fc.stringMatching(/^[-+]?[0-9]{0,3}[.e]?[-0-9.]{0,14}$/),
    fc.constantFrom('true', 'false', 'tru', 'falsy', '-0', '007', '', '123456789012345', '1234567890123456'),
  )
  .map(text => `a=${text} n=${text}`);
const pages: fc.Arbitrary<Page> = fc
  .array(fc.oneof(jsonLines, logfmtLines, numberLines), { maxLength: 10 })
  .map(lines => pageOf(['a=before', ...lines].map(line => Buffer.from(line))));

describe.each(['as compiled', 'under guard'])('values of fields, %s', kind => {
  let guard: Guard | undefined;
  let scanner: FieldScanner;
  beforeAll(() => {
    guard = kind === 'under guard' ? guardKernels() : undefined;
    scanner = new FieldScanner();
  });
  afterAll(() => guard?.release());

  /** Reads all rows but the first, so that the lines do not begin at the first byte of their table. */
  function read({ lines, lineOffsets, rows }: Page) {
    guard?.allow([[4096, 2 ** 32]]);
    const keys = { json: new TopKeys(), logfmt: new TopKeys() };
    scanner.begin(lines, keys);
    scanner.read(lineOffsets, 1, rows, new Uint8Array(rows));
    const values = scanner.values();
    const members = scanner.end();
    if (values !== undefined) guard?.allow([[4096, values.memoryBytes]]);
    return { keys, members, values };
  }

  function expectTypes(values: FieldValues, bytes: Buffer, all: readonly Value[]): void {
    const found = values.types();
    const types = new Set(
      all.map(({ kind: of, start, end }) => (of === VALUE ? parquetTypeOf(bytes, start, end) : 'STRING')),
    );
    // A number that the kernel leaves may be a text.
    if (types.has('STRING')) expect(found.texts || found.others).toBe(true);
    if (found.texts) expect(types).toContain('STRING');
    if (found.texts || found.others) return;
    expect(found.integers).toBe(types.has('INT64'));
    expect(found.decimals).toBe(types.has('DOUBLE'));
    expect(found.booleans).toBe(types.has('BOOLEAN'));
    expect(found.empty).toBe(all.some(({ start, end }) => start === end));
    for (const [i, { start, end }] of all.entries()) {
      const text = bytes.toString('latin1', start, end);
      if (text === '') continue;
      const want = text === 'true' ? 1 : text === 'false' ? 0 : typedNumber(bytes, start, end);
      expect(values.numbers[i]).toBe(want);
    }
  }

  test('are those of the plain version, with their types and numbers', () => {
    let count = 0;
    const check = (page: Page) => {
      const { keys, members, values } = read(page);
      if (values === undefined) return;
      const names = new Set([...keys.json.texts, ...keys.logfmt.texts].map(String));
      for (const name of names) {
        const byRow = new Map<number, Value>();
        const rangeOf = (parser: 'json' | 'logfmt') => {
          const key = keys[parser].texts.findIndex(
            (text, i) => `${text}` === name && keys[parser].parents[i] === 0,
          );
          if (key < 0) return NO_MEMBERS;
          for (const [row, value] of valuesOf(page, members[parser], key, parser === 'logfmt'))
            byRow.set(row, value);
          return { from: members[parser].first[key], to: members[parser].first[key + 1] };
        };
        const gathered = values.gather(rangeOf('json'), rangeOf('logfmt'));
        const all = [...byRow.values()]
          .filter(({ kind: of }) => of !== NOTHING)
          .sort((a, b) => a.row - b.row);
        count += all.length;
        expect(gathered).toMatchObject({ count: all.length, rows: byRow.size });
        // A value that a later one of the line replaces may have an escape.
        if (gathered.arePlain) expect(all.every(({ kind: of }) => of === VALUE)).toBe(true);
        const { rows, starts, ends, kinds } = values;
        expect(all.map((_, i) => ({ row: rows[i], start: starts[i], end: ends[i], kind: kinds[i] }))).toEqual(
          all,
        );
        expectTypes(values, page.lines, all);
        const dictionary = values.openDictionary()!;
        expect(values.number(dictionary)).toBe(true);
        const texts = all.map(({ start, end }) => page.lines.toString('latin1', start, end));
        const distinct = [...new Set(texts)];
        expect([...values.indexes]).toEqual(texts.map(text => distinct.indexOf(text)));
        expect(dictionary).toMatchObject({ size: distinct.length, seen: texts.length });
        const written = Buffer.concat(
          distinct.flatMap(text => {
            const length = Buffer.alloc(4);
            length.writeUInt32LE(text.length);
            return [length, Buffer.from(text, 'latin1')];
          }),
        );
        expect(Buffer.from(values.textsOf(dictionary)).equals(written)).toBe(true);
        values.closeDictionary(dictionary);
      }
      expect(guard?.faults ?? []).toEqual([]);
    };
    fc.assert(fc.property(pages, check), { numRuns: kind === 'under guard' ? 200 : 1000 });
    expect(count).toBeGreaterThan(bySuite({ fast: 100, full: 500 }));
  });

  test('a dictionary continues in the next pages, and ends if its texts do not repeat or are too large', () => {
    const pageWith = (texts: readonly string[]) => {
      const { keys, members, values } = read(
        pageOf(['x=1', ...texts.map(text => `a=${text}`)].map(line => Buffer.from(line))),
      );
      expect(`${keys.logfmt.texts[0]}`).toBe('a');
      values!.gather(NO_MEMBERS, { from: 0, to: members.logfmt.first[1] });
      return values!;
    };
    const many = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => `v${from + i}`);
    let values = pageWith(many(0, 200));
    const repeated = values.openDictionary()!;
    expect(values.number(repeated)).toBe(true);
    values = pageWith([...many(100, 250), ...many(0, 250)]);
    expect(values.number(repeated)).toBe(true);
    expect(repeated).toMatchObject({ size: 250, seen: 600 });
    expect([...values.indexes]).toEqual(
      [...many(100, 250), ...many(0, 250)].map(text => Number(text.slice(1))),
    );
    values.closeDictionary(repeated);

    values = pageWith(many(0, 600));
    expect(values.number(values.openDictionary()!)).toBe(false);
    values = pageWith(Array.from({ length: 3 }, (_, i) => `${i}`.repeat(100_000)));
    expect(values.number(values.openDictionary()!)).toBe(false);
    // As many as there are at the same time, also after tables that failed.
    values.reset();
    const open = Array.from({ length: 49 }, () => values.openDictionary());
    expect(open.indexOf(undefined)).toBe(48);
    values.reset();
    expect(guard?.faults ?? []).toEqual([]);
  });
});
