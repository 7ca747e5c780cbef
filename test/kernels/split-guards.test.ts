/** Splitting and joining under guard: for any bytes, no access is outside the layout. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { SplitPage } from '../../shared/base/kernels/join-lines.ts';
import { createLineMemory, joinAreaOf } from '../../shared/base/kernels/line-memory.ts';
import { mapTemplates } from '../../shared/base/kernels/row-classes.ts';
import { splitLines, splitMemoryBytes } from '../../shared/base/kernels/split-lines.ts';
import { type Guard, guardKernels } from './guard.ts';
import { hostilePage } from './hostile.ts';
import { columnPage, numberedPage, shapedPage, type TimedPage, timedPage } from './shaped-lines.ts';

const BASE = 4096;
/** Classes are remembered from page to page. */
const KNOWN = {};
/** Position of the lines in their memory. */
const START = 1000;
let memory: Buffer | undefined;

let guard: Guard;
beforeAll(() => {
  guard = guardKernels();
});
afterAll(() => guard.release());

function join(bytes: Buffer, { lineOffsets, rows, times }: TimedPage, sought?: Uint8Array): boolean {
  memory ??= createLineMemory(512 * 1024);
  const lines = memory.subarray(START, START + lineOffsets[rows]);
  const page = new SplitPage(bytes.length, lines);
  bytes.copy(page.bytes);
  const { at, end } = joinAreaOf(memory)!;
  guard.allow([
    [START, START + lines.length],
    [at, end],
  ]);
  if (!page.open(rows, times && { base: 0, offsets: times })) return false;
  if (sought !== undefined) page.markRows([{ bytes: sought, others: sought }]);
  return page.join(lineOffsets, sought !== undefined);
}

/** Writes the lines one behind the other, and up to OVER_BYTES more. */
const OVER_BYTES = 79;

function pack(bytes: Buffer, { lines, lineOffsets, rows, times }: TimedPage): void {
  memory ??= createLineMemory(512 * 1024);
  const target = memory.subarray(START, START + lines.length);
  const page = new SplitPage(bytes.length, target);
  bytes.copy(page.bytes);
  const { at, end } = joinAreaOf(memory)!;
  guard.allow([
    [START, START + lines.length + OVER_BYTES],
    [at, end],
  ]);
  if (!page.open(rows, times && { base: 0, offsets: times })) return;
  const offsets = page.pack();
  if (offsets === undefined) return;
  expect(offsets[rows]).toBeLessThanOrEqual(lines.length);
  // All values are there, so the lines are those of the page if their bytes are.
  if (target.equals(lines)) expect([...offsets]).toEqual([...lineOffsets]);
}

function check(page: TimedPage, at: number, byte: number): void {
  guard.allow([[BASE, splitMemoryBytes()]]);
  const split = splitLines(page)!;
  const bytes = Buffer.concat([split.frame, split.columns]);
  const terms = split.termsOfLines()?.terms.slice();
  // Any value may be the message.
  const messages = mapTemplates(
    split.frame,
    () => true,
    ({ values }) => (values.length === 0 ? undefined : { value: at % values.length, words: 0 }),
  );
  const levels = new Uint8Array(page.rows);
  for (const some of [messages, messages.map(() => undefined)]) {
    const classed = split.classRows({ messages: some, levels, known: KNOWN });
    expect(classed.count).toBeLessThanOrEqual(page.rows);
    for (let number = 1; number <= classed.count; number++) classed.variedIn(number);
  }
  // Classes of rows leave what terms are found in.
  expect(split.termsOfLines()?.terms).toEqual(terms);
  expect(join(bytes, page)).toBe(true);
  const from = at % Math.max(1, page.lines.length - 1);
  const sought = Buffer.concat([page.lines.subarray(from, from + 1 + (byte & 15)), Buffer.of(byte)]);
  expect(join(bytes, page, sought)).toBe(true);
  pack(bytes, page);
  expect(memory!.subarray(START, START + page.lines.length).equals(page.lines)).toBe(true);
  bytes[at % bytes.length] = byte;
  pack(bytes, page);
  join(bytes, page);
  join(bytes, page, sought);
  join(bytes.subarray(0, at % bytes.length), page);
  expect(guard.faults).toEqual([]);
}

test('pages as they are, changed and cut', () => {
  fc.assert(
    fc.property(
      fc.oneof<fc.Arbitrary<TimedPage>[]>(shapedPage, hostilePage, timedPage, numberedPage, columnPage),
      fc.nat(),
      fc.nat(255),
      (page, at, byte) => check(page, at, byte),
    ),
    { numRuns: 200 },
  );
  expect(guard.accesses).toBeGreaterThan(1000);
});
