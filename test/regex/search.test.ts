import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { RE2JS } from 're2js';
import { lineSpace } from '../../shared/base/kernels/line-memory.ts';
import { decodeText } from '../../shared/language/regex/decode.ts';
import { parseRegex } from '../../shared/language/regex/parse.ts';
import { compileRegex } from '../../shared/language/regex/regex.ts';
import { selectAny, selectContaining, selectMatching } from '../../shared/language/regex/search.ts';
import { patterns } from './patterns.ts';

interface Page {
  readonly lines: Buffer;
  readonly lineOffsets: Uint32Array;
}

function pageOf(rows: readonly Buffer[]): Page {
  const lineOffsets = new Uint32Array(rows.length + 1);
  rows.forEach((row, i) => {
    lineOffsets[i + 1] = lineOffsets[i] + row.length;
  });
  return { lines: Buffer.concat(rows), lineOffsets };
}

const parts = [
  'a',
  'b',
  'ab',
  'aab',
  'error',
  'ERROR',
  'err',
  'or',
  'k',
  '\u212a',
  's',
  'ſ',
  'é',
  '😀',
  ' ',
  '=',
  '1',
  '\n',
];

const row = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.array(fc.constantFrom(...parts), { maxLength: 6 }).map(all => Buffer.from(all.join(''))),
  },
  { weight: 1, arbitrary: fc.constant(Buffer.alloc(0)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 6 }).map(bytes => Buffer.from(bytes)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(Buffer.from([0xe2, 0x84]), Buffer.from([0xaa]), Buffer.from([0x61, 0xc3])),
  },
  { weight: 1, arbitrary: fc.constant(Buffer.alloc(700, 'x')) },
);

/** A page and which of its rows are selected. */
const pages = fc.array(fc.tuple(row, fc.integer({ min: 0, max: 3 })), { maxLength: 40 }).map(rows => ({
  rows: rows.map(([bytes]) => bytes),
  selected: rows.flatMap(([, dice], i) => (dice > 0 ? [i] : [])),
}));

type Select = (
  lines: Buffer,
  lineOffsets: Uint32Array,
  selection: Uint32Array,
  count: number,
  negate: boolean,
) => number;

/**
 * Both polarities, inside and outside the line space, against a test of each single line; nothing after the
 * count may be changed or read.
 */
function expectSelected(
  page: { rows: Buffer[]; selected: number[] },
  select: Select,
  test: (row: Buffer) => boolean,
) {
  const { lines: elsewhere, lineOffsets } = pageOf(page.rows);
  const inside = lineSpace().subarray(0, elsewhere.length);
  elsewhere.copy(inside);
  for (const lines of [elsewhere, inside]) {
    for (const negate of [false, true]) {
      const selection = Uint32Array.from([...page.selected, 0xffff_ffff]);
      const count = select(lines, lineOffsets, selection, page.selected.length, negate);
      expect([...selection.subarray(0, count)]).toEqual(
        page.selected.filter(i => test(page.rows[i]) !== negate),
      );
      expect(selection[page.selected.length]).toBe(0xffff_ffff);
    }
  }
}

/** Matches with re2js only. */
function lineTest(pattern: string): (row: Buffer) => boolean {
  const judge = RE2JS.compile(parseRegex(pattern).nameless);
  return bytes => judge.test(decodeText(bytes, 0, bytes.length));
}

describe('a page search keeps the rows that a search of each line keeps', () => {
  const runs = { numRuns: 500 };

  test('finds needles as a search of each line does', () => {
    const needles = fc.oneof(
      fc.array(fc.constantFrom(...parts), { maxLength: 3 }).map(all => Buffer.from(all.join(''))),
      fc.uint8Array({ maxLength: 2 }).map(bytes => Buffer.from(bytes)),
    );
    fc.assert(
      fc.property(pages, needles, (page, needle) => {
        expectSelected(
          page,
          (lines, offsets, selection, count, negate) =>
            selectContaining(lines, offsets, selection, count, needle, negate),
          bytes => bytes.includes(needle),
        );
      }),
      runs,
    );
  });

  const searched = fc.oneof(
    patterns,
    fc.constantFrom(
      'error',
      '(?i)error',
      '(?i)ask',
      '(?i)é',
      'error|err',
      'errorab|err',
      'err|errorab',
      '(?i)(?:err|aab) ?(?:or|1=)',
      'x*(?:error|aab)',
      '(?i)ror=|bab|(?:a|e)rr',
      // Enough for one pass over all of them.
      'aab|err|orb|abk|error|b=1|1 a',
      '(?i)aab|err|ORB|abk|errorab|b=1|rab|oré',
      '(aab|err|orb|abk|bab|b=1|rab).*1',
      '(?i)(error|ab)+',
      'a+b',
      '(?i)err.*ab',
      'ab.*or',
      '1{2,}b',
      '(aab|ab){2}',
      '\ufffd',
      'a\ufffd',
      '^ab',
      'ab$',
      '[ae]r?r?b',
      // Sequences of sets.
      '[ab]{2}[0-9]',
      '[a-e]{2}r',
      '(?i)[a-e]{3}[1-9 ]?b',
      '[ab]{3}x?[a-e]',
      '[0-9=]{2,}x?[a-e]',
      '[b-e][r ]{2}.*[0-9][ab]{3}',
      'b?[ab]{2,3}[0-9=]{1,2}[a-e]{2}',
      '[aber]{9}',
      '',
      '.*',
    ),
  );

  test('finds regular expressions as a search of each line does', () => {
    fc.assert(
      fc.property(pages, searched, (page, pattern) => {
        const regex = compileRegex(pattern);
        expectSelected(
          page,
          (lines, offsets, selection, count, negate) =>
            selectMatching(lines, offsets, selection, count, regex, negate),
          lineTest(pattern),
        );
      }),
      runs,
    );
  });

  test('finds any of several texts and expressions', () => {
    const oneTest = fc.oneof(
      fc.constantFrom(...parts, '').map(text => ({ needle: text })),
      searched.map(pattern => ({ pattern })),
    );
    fc.assert(
      fc.property(pages, fc.array(oneTest, { maxLength: 4 }), (page, tests) => {
        const compiled = tests.map(one =>
          'needle' in one ? Buffer.from(one.needle) : compileRegex(one.pattern),
        );
        const naive = tests.map(one =>
          'needle' in one ? (bytes: Buffer) => bytes.includes(one.needle) : lineTest(one.pattern),
        );
        expectSelected(
          page,
          (lines, offsets, selection, count, negate) =>
            selectAny(lines, offsets, selection, count, compiled, negate),
          bytes => naive.some(accepts => accepts(bytes)),
        );
      }),
      runs,
    );
  });
});

describe('how a page is searched', () => {
  test.each<[string, string | undefined, boolean | undefined]>([
    ['error', 'needle', true],
    ['.*error.*', 'needle', true],
    ['error.*timeout', 'needle', false],
    ['(?i)error', 'bytePattern', true],
    ['error|failed', 'bytePattern', true],
    ['(?i)error.*timeout', 'bytePattern', false],
    ['(?i)error$', 'bytePattern', false],
    ['é|ü', undefined, undefined],
    ['\\d{4}', 'bytePattern', true],
    ['\\w+@\\w+', 'needle', false],
    ['[^a]error', 'needle', false],
    ['\\d', undefined, undefined],
    ['\ufffd', undefined, undefined],
  ])('%j', (pattern, way, exact) => {
    const scan = compileRegex(pattern).pageScan;
    expect(scan?.needle ? 'needle' : scan?.bytePattern ? 'bytePattern' : undefined).toBe(way);
    expect(scan?.exact).toBe(exact);
  });

  test.each<[string, number | undefined, boolean | undefined]>([
    ['[a-f]{3}[0-9]{2,}x?[a-f]', 5, false],
    ['[0-9]{4}', 4, true],
    ['\\d\\d:\\d\\d', 5, true],
    ['[a-f0-9]{30}', 8, false],
    ['z?[a-c]{2,4}[1-3]{12}x', 8, false],
    ['[0-9]{2}[é1]', undefined, undefined],
    ['[0-9]x?[a-f]{2}', undefined, undefined],
  ])('%j in line memory: a sequence of %s sets', (pattern, length, exact) => {
    const { lineMemorySearch: found } = compileRegex(pattern).pageScan!;
    expect([found?.search.length, found?.exact]).toEqual([length, exact]);
  });

  test('no string is made of a line that the search excludes', () => {
    const { lines, lineOffsets } = pageOf([Buffer.from('x error'), Buffer.from('y'), Buffer.from('error z')]);
    const regex = compileRegex('error.*z');
    const asked: number[] = [];
    const watched = {
      pageScan: regex.pageScan,
      testBytes: (bytes: Buffer, start: number, end: number) => {
        asked.push(start);
        return regex.testBytes(bytes, start, end);
      },
    } as typeof regex;
    const selection = Uint32Array.from([0, 1, 2]);
    expect(selectMatching(lines, lineOffsets, selection, 3, watched, false)).toBe(1);
    expect(selection[0]).toBe(2);
    expect(asked).toEqual([0, 8]);
  });

  test('searches pages larger than one block of text', () => {
    const rows = Array.from({ length: 3_000 }, (_, i) =>
      Buffer.from(`${'x'.repeat(50)}${i % 7 === 0 ? 'ErRoR' : 'er'}`),
    );
    expectSelected(
      { rows, selected: rows.map((_, i) => i).filter(i => i % 3 > 0) },
      (lines, offsets, selection, count, negate) =>
        selectMatching(lines, offsets, selection, count, compileRegex('(?i)error'), negate),
      bytes => bytes.includes('ErRoR'),
    );
  });
});
