/** Captures from the columns of splits that any writer may make: those of the lines. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lineSpace } from '../../shared/base/kernels/line-memory.ts';
import type { CaptureWants } from '../../shared/base/model/page-captures.ts';
import { capturesOf } from '../../shared/storage/columns/capture-table.ts';
import { capturesOfSplit } from '../../shared/storage/columns/split-captures.ts';
import { SplitFrame } from '../../shared/storage/columns/split-frame.ts';
import {
  bytesOfSplit,
  type HandMadeSplit,
  type HandMadeTemplate,
  linesOfSplit,
} from '../support/hand-made-split.ts';
import { capturesOfLine, textsOf, wantsOf } from '../support/pattern-captures.ts';

const COLUMNS = 4;
/** Few letters, so that literals overlap, straddle values and repeat. */
const anyText = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'b', ' ', '"'), maxLength }).map(text => Buffer.from(text));
/** Values of most columns hold no letter of a literal. */
const plainValue = fc.constantFrom('1', '23', '456', '7').map(text => Buffer.from(text));
const value = (column: number) => (column < 2 ? plainValue : anyText(3));

const template: fc.Arbitrary<HandMadeTemplate> = fc
  .uniqueArray(fc.integer({ min: 1, max: COLUMNS }), { maxLength: COLUMNS })
  .chain(columns =>
    fc.record({
      columns: fc.constant(columns),
      texts: fc.array(anyText(3), { minLength: columns.length + 1, maxLength: columns.length + 1 }),
    }),
  );

const split: fc.Arbitrary<HandMadeSplit> = fc
  .array(template, { minLength: 1, maxLength: 2 })
  .chain(templates => {
    const row = (number: number) =>
      fc.record({
        template: fc.constant(number),
        values: fc.tuple(...templates[number - 1].columns.map(value)),
      });
    return fc.record({
      templates: fc.constant(templates),
      rows: fc
        .array(fc.oneof(...templates.map((_, i) => row(i + 1))), { minLength: 1, maxLength: 12 })
        // Most rows are as the first one, so few lines are joined.
        .map(rows => [...Array.from({ length: 9 * rows.length }, () => rows[0]), ...rows]),
      isWords: fc.array(fc.boolean(), { minLength: COLUMNS, maxLength: COLUMNS }),
    });
  });

const wants: fc.Arbitrary<CaptureWants> = fc
  .record({
    lead: fc.oneof(
      { weight: 3, arbitrary: fc.constant('') },
      { weight: 1, arbitrary: anyText(2).map(String) },
    ),
    literals: fc.array(
      anyText(3)
        .map(String)
        .filter(text => text.length > 0),
      { maxLength: 4 },
    ),
  })
  .chain(({ lead, literals }) =>
    fc
      .uniqueArray(fc.nat(literals.length), { minLength: 1, maxLength: 3 })
      .map(captures => wantsOf(lead, literals, captures)),
  );

/** Returns undefined if lines are needed. */
function capturesIn(made: HandMadeSplit, requested: CaptureWants) {
  const lines = linesOfSplit(made);
  const rows = lines.length;
  const lineOffsets = new Uint32Array(rows + 1);
  for (const [i, line] of lines.entries()) lineOffsets[i + 1] = lineOffsets[i] + line.length;
  const bytes = bytesOfSplit(made);
  const frame = new SplitFrame(bytes, rows, 'a page');
  const ends = [frame.bytes];
  for (let column = 0; column < frame.columns; column++) ends.push(ends[column] + frame.bytesOf(column));
  expect(ends.at(-1)).toBe(bytes.length);
  const table = capturesOfSplit(requested, {
    frame,
    bytesOf: column => bytes.subarray(ends[column], ends[column + 1]),
    lineOffsets,
    linesOf(selection) {
      const space = lineSpace().subarray(0, lineOffsets[rows]).fill(0);
      for (const row of selection) lines[row].copy(space, lineOffsets[row]);
      return { rows, lines: space, lineOffsets };
    },
  });
  const found = table && textsOf(capturesOf(table, rows), rows, requested.captures.length);
  return { found, wanted: lines.map(line => capturesOfLine(line.latin1Slice(), requested)) };
}

test('captures are those of the lines, or there are none', () => {
  let answered = 0;
  fc.assert(
    fc.property(split, wants, (made, requested) => {
      const { found, wanted } = capturesIn(made, requested);
      if (found === undefined) return;
      answered++;
      expect(found).toEqual(wanted);
    }),
    { numRuns: 4000 },
  );
  expect(answered).toBeGreaterThan(10);
});

test.each([
  ['more different values than the kernel numbers', 5000, true],
  ['more than two bytes can number', 65_536, false],
])('whole values: %s', (_, rows, isFound) => {
  const made: HandMadeSplit = {
    templates: [{ texts: [Buffer.from('a='), Buffer.from(' b='), Buffer.alloc(0)], columns: [1, 2] }],
    rows: Array.from({ length: rows }, (_row, i) => ({
      template: 1,
      values: [Buffer.from(i === 77 ? '' : `${i * i}`), Buffer.from(`${i % 3}`)],
    })),
    isWords: [false, true],
  };
  const { found, wanted } = capturesIn(made, wantsOf('a=', [' b='], [0, 1]));
  expect(found).toEqual(isFound ? wanted : undefined);
});
