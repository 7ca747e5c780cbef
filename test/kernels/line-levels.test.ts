/** Levels of lines are those of the plain version, of any bytes, and nothing else is touched. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { levelKernelBytes, levelsOfLines } from '../../shared/base/kernels/line-levels.ts';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { levelFields } from '../../shared/write/ingest/level-fields.ts';
import { DETECTED_LEVELS } from '../../shared/write/ingest/level-words.ts';
import { jsonLines, logfmtLines } from '../fields/lines.ts';
import { type Guard, guardKernels } from './guard.ts';
import { hostileText, mixedText } from './hostile.ts';
import { levelOfLine } from './oracles/line-levels.ts';

const FIELDS = DEFAULT_LIMITS.logLevelFields;

const piece = fc.oneof(
  fc.constantFrom(
    ...'level Level LEVEL lvl severity msg a éé trc info error ERR err warning warn fatal'.split(' '),
  ),
  fc.constantFrom(...' \t\n\r\v[](){}"\'=|:,!.-\\\0'),
  fc.constantFrom('"level":"', 'level="', '\\"', ' severity=', '{"a":{"', '"}', '": ["'),
);
const text = fc.array(piece, { maxLength: 16 }).map(parts => Buffer.from(parts.join('')));
const object = text.map(inside => Buffer.from(` {"${inside.toString('latin1')}} `, 'latin1'));
const lines = fc.array(
  fc.oneof(
    text,
    object,
    hostileText,
    jsonLines.map(line => Buffer.from(line)),
    logfmtLines.map(line => Buffer.from(line)),
  ),
  { maxLength: 12 },
);

let guard: Guard;

function expectLevels(all: readonly Buffer[], fields: readonly string[] = FIELDS, maxDepth = 2): number[] {
  // Bytes around each line that would change the answer if they were read.
  const around = Buffer.from(' error "level":"fatal"} level=fatal ');
  const starts = new Uint32Array(all.length);
  const ends = new Uint32Array(all.length);
  const parts: Buffer[] = [around];
  let at = around.length;
  for (const [i, line] of all.entries()) {
    starts[i] = at;
    ends[i] = at += line.length;
    at += around.length;
    parts.push(line, around);
  }
  const bytes = Buffer.concat(parts);
  const names = levelFields(fields);
  const last = Math.min(bytes.length, Math.max(1024 * 1024, ...all.map(({ length }) => length)));
  guard.allow([[4096, levelKernelBytes(names) + last + 16]]);
  const levels = levelsOfLines({ bytes, starts, ends }, Uint32Array.from(all.keys()), names, maxDepth);
  expect([...levels]).toEqual(all.map(line => levelOfLine(line, names.names, maxDepth)));
  expect(guard.faults).toEqual([]);
  return [...levels];
}

// The instance is one for the thread: that under guard is made here, before there is another.
describe('levels of lines under guard', () => {
  beforeAll(() => {
    guard = guardKernels();
  });
  afterAll(() => guard.release());

  test('are those of the plain version, of any bytes', () => {
    const counts = DETECTED_LEVELS.map(() => 0);
    const limits = fc.record({ maxDepth: fc.integer({ min: -1, max: 4 }), first: fc.nat(6) });
    fc.assert(
      fc.property(lines, limits, (all, { maxDepth, first }) => {
        for (const level of expectLevels(all, FIELDS.slice(first), maxDepth)) counts[level]++;
      }),
      { numRuns: 6_000 },
    );
    // The property would hold if all were unknown.
    expect(counts.filter(count => count > 50).length).toBeGreaterThan(4);
    expect(guard.accesses).toBeGreaterThan(10_000);
  });

  test('finds level words at each place of a block', () => {
    const words = [
      'error',
      'ERR',
      'Warning',
      'critical',
      'x-error',
      'errorx',
      'error}',
      '\terror',
      'level=warn',
      '{"level":"inf"}',
    ];
    for (let length = 0; length < 50; length++) {
      expectLevels(
        words.flatMap(word => [
          Buffer.from(`${'x'.repeat(length)} ${word}`),
          Buffer.from(`${' '.repeat(length)}${word}`),
        ]),
      );
    }
  });

  test('finds levels in own fields of any length', () => {
    const long = 'l'.repeat(40);
    const texts = [
      `{"${long}":"warn","level":"info"}`,
      `${long.toUpperCase()}=warn level=info`,
      'é=err',
      '{"é":"err"}',
    ];
    expectLevels(
      texts.map(line => Buffer.from(line)),
      ['x', long, 'é'],
    );
    expectLevels(
      texts.map(line => Buffer.from(line)),
      [],
    );
    expectLevels(texts.map(line => Buffer.from(line)));
  });

  test('finds levels of lines of 10 MB among many short ones, of no lines, and of some only', () => {
    const long = 'nothing to see here, "really" '.repeat(350_000);
    const texts = [
      `${long} error`,
      `{"a":"${long.replaceAll('"', '')}","level":"warn"}`,
      `{"a":[${long}`,
      `a="${long}`,
    ];
    const short = Array.from({ length: 10_000 }, (_, i) =>
      Buffer.from(`${i} level=${DETECTED_LEVELS[i % DETECTED_LEVELS.length]}`),
    );
    expectLevels([...short, ...texts.map(line => Buffer.from(line)), mixedText(10_000_000), ...short]);
    expectLevels([]);
    const bytes = Buffer.from('error warn');
    const spans = { bytes, starts: Uint32Array.of(0, 6, 6), ends: Uint32Array.of(5, 10, 6) };
    expect([...levelsOfLines(spans, Uint32Array.of(1, 0, 2), levelFields(FIELDS), 2)]).toEqual([4, 5, 0]);
  });
});
