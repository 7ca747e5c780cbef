/** Streams whose lines differ in syntax share no page. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { lineSyntax } from '../../shared/upkeep/compaction/line-syntax.ts';
import { chunkIndexers } from '../../shared/upkeep/indexing/index-chunk.ts';
import { entriesOfPage, type PlainEntry } from '../support/rows.ts';
import { DAY_START, inOrder, inputsOf, merge, pagesOf } from './support/merge-chunks.ts';

const KIB = 1024;

describe('the syntax of a line', () => {
  test.each([
    ['{"level":"info"}', 'json'],
    [' \t{"level":"info"}', 'json'],
    ['{', 'json'],
    ['{{{', 'json'],
    ['level=info msg="x"', 'logfmt'],
    ['a.b-c/d=', 'logfmt'],
    ['  k=v', 'logfmt'],
    ['=v', 'text'],
    ['"k"=v', 'text'],
    ['k v=1', 'text'],
    ['GET /items?a=b', 'text'],
    ['10.0.0.1 - - [28/Nov/2026] "GET / HTTP/1.1"', 'text'],
    ['[{"a":1}]', 'text'],
    ['', 'text'],
    ['   ', 'text'],
    [`${'k'.repeat(127)}=v`, 'logfmt'],
    [`${'k'.repeat(128)}=v`, 'text'],
  ])('%j is %s', (line, syntax) => {
    const bytes = Buffer.from(line);
    expect(lineSyntax(bytes, 0, bytes.length)).toBe(syntax);
  });

  test('bytes around the line do not matter', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.uint8Array(), fc.uint8Array(), (before, line, after) => {
        const bytes = Buffer.concat([before, line, after]);
        const at = before.length;
        expect(lineSyntax(bytes, at, at + line.length)).toBe(lineSyntax(line, 0, line.length));
      }),
    );
  });
});

const LINES = [
  (i: number) => JSON.stringify({ level: 'info', took: i }),
  (i: number) => `level=info took=${i}`,
  (i: number) => `GET /items/${i} took ${i} ms`,
];

/** Streams of all syntaxes, which alternate in the order of their labels. */
function chunksOf(streams: number, rows: number): PlainEntry[][] {
  return [0, 1].map(chunk =>
    Array.from({ length: streams * rows }, (_, i): PlainEntry => {
      const s = i % streams;
      const stream = { app: `a${String.fromCharCode(97 + s)}` };
      return { stream, time: 1000 * (2 * i + chunk), line: LINES[s % 3](i), metadata: {} };
    }),
  );
}

describe('a merge', () => {
  const syntaxesOf = (object: Buffer) =>
    pagesOf(object).map(page => {
      const syntaxes = entriesOfPage(page, DAY_START).map(({ line }) => {
        return lineSyntax(Buffer.from(line), 0, Buffer.byteLength(line));
      });
      return [...new Set(syntaxes)];
    });

  test('has pages of one syntax', async () => {
    const chunks = chunksOf(9, 100);
    const options = { pageBytes: 8 * KIB, indexer: chunkIndexers(0) };
    const { entries, objects, footers } = await merge(await inputsOf(chunks), options);
    expect(entries).toEqual(inOrder(chunks.flat()));
    const syntaxes = syntaxesOf(objects[0]);
    expect(syntaxes.every(ofPage => ofPage.length === 1)).toBe(true);
    expect(new Set(syntaxes.flat())).toEqual(new Set(['json', 'logfmt', 'text']));
    // Streams of one syntax share pages, though streams of others are between them.
    expect(footers[0].pages.some(({ runs }) => runs.length > 1)).toBe(true);
  });

  test('has at most two pages more than without syntaxes', async () => {
    const chunks = chunksOf(9, 100);
    const options = { pageBytes: 8 * KIB };
    const plain = await merge(await inputsOf(chunks), options);
    const divided = await merge(await inputsOf(chunks), { ...options, indexer: chunkIndexers(0) });
    const pages = plain.footers[0].pages.length;
    expect(divided.footers[0].pages.length).toBeLessThanOrEqual(pages + 2);
  });

  test('of less than a page has one page', async () => {
    const chunks = chunksOf(9, 10);
    const { footers } = await merge(await inputsOf(chunks), {
      pageBytes: 8 * KIB,
      indexer: chunkIndexers(0),
    });
    expect(footers[0].pages).toHaveLength(1);
  });

  test('keeps entries and their order if one timestamp has more than its batches, while other syntaxes wait', async () => {
    // Streams a to f: of each syntax, before and after the one with a timestamp of 40 KiB.
    const stream = (app: string, syntax: number, times: readonly number[]) =>
      times.map((time, i): PlainEntry => ({ stream: { app }, time, line: LINES[syntax](i), metadata: {} }));
    const ascending = Array.from({ length: 20 }, (_, i) => i);
    const equal = Array.from({ length: 1500 }, () => 7);
    const chunk = [
      ...stream('a', 2, ascending),
      ...stream('b', 1, ascending),
      ...stream('c', 0, [1, 2, ...equal, 8, 9]),
      ...stream('d', 1, equal),
      ...stream('e', 2, ascending),
      ...stream('f', 0, ascending),
    ];
    // The second chunk has entries of the first.
    const chunks = [chunk.filter((_, i) => i % 3 !== 0), chunk.filter((_, i) => i % 3 !== 1)];
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 200, max: 5000 }),
        fc.integer({ min: 100, max: 2000 }),
        async (batchBytes, pageBytes) => {
          const options = { batchBytes, pageBytes, indexer: chunkIndexers(0) };
          const { entries, summary } = await merge(await inputsOf(chunks), options);
          expect(entries).toEqual(inOrder(chunks.flat()));
          expect(summary.rowsOut).toBe(chunk.length);
        },
      ),
      { numRuns: 20 },
    );
  });
});
