/** Sections read back as written, a copied page keeps exactly its part, and invalid bytes are refused. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CorruptionError } from '../../shared/base/model/errors.ts';
import { samplePages } from '../../shared/read/patterns/mine-pages.ts';
import type { PlannedPage } from '../../shared/read/query/day-plan.ts';
import { ByteWriter } from '../../shared/storage/codec/byte-io.ts';
import { LEVELS } from '../../shared/upkeep/pattern-mining/levels.ts';
import { PatternBuilder } from '../../shared/upkeep/pattern-mining/pattern-builder.ts';
import {
  decodeSection,
  encodeSection,
  type PatternSection,
  readCounts,
  readRuns,
  writeRun,
} from '../../shared/upkeep/pattern-mining/section-codec.ts';
import { patternOf } from '../../shared/upkeep/pattern-mining/template.ts';
import { CORPORA, makeCorpus } from './corpora.ts';
import { pageOf } from './quality.ts';

/** Lines by `page run level pattern second`. */
function countsOf({ templates, pages }: Pick<PatternSection, 'templates' | 'pages'>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [page, part] of pages.entries()) {
    for (const { run } of readRuns(part)) {
      const only = (other: number) => other === run;
      readCounts(part, only, (template, level, second, lines) => {
        const key = `${page} ${run} ${LEVELS[level]} ${patternOf(templates[template])} ${second}`;
        counts[key] = (counts[key] ?? 0) + lines;
      });
    }
  }
  return counts;
}

function built(pages: readonly ReturnType<typeof pageOf>[]): PatternSection {
  const builder = new PatternBuilder();
  for (const page of pages) builder.addPage(page);
  return decodeSection(builder.finish()!, 'test')!;
}

test('counts by run, level and ten seconds; by minute if a run is long', () => {
  const lines = ['job 1 done', 'job 2 done', 'job 3 failed badly', 'job 4 done'].map(line => ({ line }));
  const page = {
    ...pageOf(lines, 0),
    runs: [
      { firstRow: 0, rows: 2 },
      { firstRow: 2, rows: 2 },
    ],
    times: Float64Array.of(5e9, 15e9, 25e9, 3630e9),
    base: 0,
    levels: Uint8Array.of(3, 3, 5, 3),
  };
  expect(countsOf(built([page]))).toEqual({
    '0 0 info job <_> done 0': 1,
    '0 0 info job <_> done 10': 1,
    '0 1 error job 3 failed badly 0': 1,
    '0 1 info job <_> done 3600': 1,
  });
});

test.each(Object.keys(CORPORA))(
  '%s: every line counts once, and a page may be written without runs',
  name => {
    const lines = makeCorpus(name, 1200);
    const pages = [pageOf(lines.slice(0, 700)), pageOf([{ line: '' }]), pageOf(lines.slice(700))];
    const counts = countsOf(built(pages));
    expect(Object.values(counts).reduce((sum, one) => sum + one, 0)).toBe(1200);
    expect(Object.keys(counts).some(key => key.startsWith('1 '))).toBe(false);
  },
);

describe('a page that is copied', () => {
  const page = (word: string, from: number) =>
    pageOf(
      Array.from({ length: 20 }, (_, i) => ({ line: `${word} number ${i} of ${word}`, level: 'info' })),
      from,
    );
  const [apple, secret, cherry] = [page('apple', 0), page('secret', 100), page('cherry', 200)];

  test('keeps its patterns, and no word of a page that is not copied remains', () => {
    const builder = new PatternBuilder();
    const source = built([apple, secret, cherry]);
    builder.copyPage(source, 0);
    builder.copyPage(source, 2);
    const section = decodeSection(builder.finish()!, 'test')!;
    expect(countsOf(section)).toEqual(countsOf(built([apple, cherry])));
    expect(JSON.stringify(section.templates)).not.toMatch('secret');
  });

  test('is stored together with mined pages', () => {
    const builder = new PatternBuilder();
    builder.addPage(apple);
    builder.copyPage(built([secret, cherry]), 1);
    builder.addPage(secret);
    expect(countsOf(builder.section()!)).toEqual(countsOf(built([apple, cherry, secret])));
  });
});

test('lines that are like no other take a small part of the chunk', () => {
  const letters = 'abcdefghijklmnopqrstuvwxyz';
  const word = (n: number) =>
    [n % 26, (n >> 2) % 26, (n >> 4) % 26, (n >> 6) % 26].map(i => letters[i]).join('');
  const lines = Array.from({ length: 6000 }, (_, i) => ({
    line: Array.from({ length: 6 + (i % 7) }, (_, j) => word(i * 7919 + j * 104_729)).join(' '),
  }));
  const page = pageOf(lines);
  const { templates } = built([page]);
  const bytes = templates.reduce((sum, key) => sum + key.length, 0);
  expect(bytes).toBeLessThanOrEqual(Math.max(16 * 1024, page.lines.length / 32));
});

describe('bytes', () => {
  const group = fc.record({
    key: fc.nat(1000),
    steps: fc.array(fc.record({ bucket: fc.integer({ min: 1, max: 50 }), lines: fc.nat(9999) }), {
      minLength: 1,
    }),
  });
  const run = fc.record({
    run: fc.integer({ min: 1, max: 9 }),
    widthS: fc.constantFrom(10, 60),
    groups: fc.array(group),
  });

  test('runs read back', () => {
    fc.assert(
      fc.property(fc.array(run, { maxLength: 5 }), runs => {
        const writer = new ByteWriter();
        let number = 0;
        const wanted = runs.map(({ run: step, widthS, groups }) => {
          const written = groups.map(({ key, steps }) => {
            let at = 0;
            const buckets = steps.map(({ bucket }) => (at += bucket));
            return { key, buckets, lines: steps.map(({ lines }) => lines) };
          });
          writeRun(writer, step, widthS, written);
          number += step;
          return { run: number, widthS, groups: written };
        });
        expect(readRuns(writer.finish())).toEqual(wanted);
      }),
      { numRuns: 60 },
    );
  });

  test('broken ones are refused or read as something, and nothing else is thrown', () => {
    const section = encodeSection(['a \xff', 'b'], [Buffer.from([0, 1, 1, 9, 1, 3, 4]), Buffer.alloc(0)])!;
    const bytes = fc.array(fc.tuple(fc.nat(section.length - 1), fc.nat(255)), { minLength: 1, maxLength: 3 });
    fc.assert(
      fc.property(bytes, fc.nat(section.length), (changes, length) => {
        const broken = Buffer.from(section);
        for (const [at, byte] of changes) broken[at] = byte;
        try {
          const read = decodeSection(broken.subarray(0, length), 'test');
          for (const part of read?.pages ?? [])
            readCounts(
              part,
              () => true,
              () => undefined,
            );
        } catch (error) {
          expect(error).toBeInstanceOf(CorruptionError);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('bytes of a later version have no patterns', () => {
    expect(decodeSection(Buffer.from([2, 0, 0]), 'test')).toBeUndefined();
  });
});

test('pages that are not mined are stood for by those that are', () => {
  const pages = Array.from({ length: 10 }, (_, i) => {
    const first = (i * 7) % 10;
    return {
      first,
      last: first,
      page: { lineBytes: 100 },
      runs: [{ rows: 1 + first }],
    } as unknown as PlannedPage;
  });
  const told = (given: Parameters<typeof samplePages>[1]) =>
    samplePages(pages, given).map(({ page, weight }) => [page.first, weight]);
  expect(told({})).toEqual(Array.from({ length: 10 }, (_, i) => [i, 1]));
  const fours = [
    [2, (1 + 2 + 3 + 4) / 3],
    [6, (5 + 6 + 7 + 8) / 7],
    [9, (9 + 10) / 10],
  ];
  expect(told({ maxBytes: 250 })).toEqual(fours);
  expect(told({ maxPages: 3 })).toEqual(fours);
});
