import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { allRows, exportHeader, exportText } from '../../ui/src/lines/export-rows.ts';
import type { PageRequest } from '../../ui/src/lines/next-page.ts';
import { type LogRow, rowsOf } from '../../ui/src/lines/rows.ts';

/** A store that answers as the API does: the first `limit` entries in the order of the direction. */
function storeOf(times: readonly number[], newestFirst: boolean) {
  const asked: PageRequest[] = [];
  const entries = times
    .map((ns, i) => [String(ns), `line ${i}`] as const)
    .sort((a, b) => Number(a[0]) - Number(b[0]));
  const ask = async (page: PageRequest): Promise<readonly LogRow[]> => {
    asked.push(page);
    const inside = entries.filter(
      ([ns]) => BigInt(ns) >= BigInt(page.startNs) && BigInt(ns) < BigInt(page.endNs),
    );
    const ordered = newestFirst ? inside.toReversed() : inside;
    return rowsOf([{ stream: { app: 'x' }, values: ordered.slice(0, page.limit) }], newestFirst);
  };
  return { ask, asked };
}

async function linesOf(pages: AsyncGenerator<readonly LogRow[]>): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const page of pages) lines.push(...page.map(({ line }) => line));
  return lines;
}

const range = { startNs: '0', endNs: '1000000000' };

describe('a whole result', () => {
  test('has each line once, in the order of the list, whatever shares a timestamp', async () => {
    const times = fc.array(fc.integer({ min: 1_000_000, max: 1_000_003 }), {
      minLength: 4500,
      maxLength: 9000,
    });
    await fc.assert(
      fc.asyncProperty(times, fc.boolean(), async (found, newestFirst) => {
        const { ask } = storeOf(found, newestFirst);
        const lines = await linesOf(allRows({ ask, range, newestFirst }));
        expect(lines).toHaveLength(found.length);
        expect(new Set(lines).size).toBe(found.length);
      }),
      { numRuns: 10 },
    );
  });

  test('holds one page at a time, and asks no more than it needs', async () => {
    const { ask, asked } = storeOf(
      Array.from({ length: 10_001 }, (_, i) => 1_000_000 + i),
      true,
    );
    let most = 0;
    for await (const page of allRows({ ask, range, newestFirst: true })) most = Math.max(most, page.length);
    expect([asked.length, most]).toEqual([3, 4000]);
  });

  test('ends at the maximum, and refuses more entries of one timestamp than a request returns', async () => {
    const { ask } = storeOf(
      Array.from({ length: 9000 }, (_, i) => 1_000_000 + i),
      false,
    );
    expect(await linesOf(allRows({ ask, range, newestFirst: false, maxLines: 4100 }))).toHaveLength(4100);
    const same = storeOf(new Array<number>(6000).fill(1_000_000), false);
    await expect(linesOf(allRows({ ask: same.ask, range, newestFirst: false }))).rejects.toThrow(
      'More lines share one timestamp',
    );
  });
});

describe('a file', () => {
  const rows = rowsOf(
    [
      {
        stream: { app: 'x' },
        values: [
          ['1700000000123456789', 'said "hi", \u001b[31mred\u001b[0m', { structuredMetadata: { pod: 'p' } }],
        ],
      },
    ],
    true,
  );
  const columns = [{ name: 'pod', widthPx: 90 }];

  test('of text has lines as they are read', () => {
    expect(exportHeader('text', columns) + exportText(rows, 'text', columns)).toBe('said "hi", red\n');
  });

  test('of JSON lines has all of an entry', () => {
    expect(exportHeader('jsonl', columns)).toBe('');
    expect(JSON.parse(exportText(rows, 'jsonl', columns))).toEqual({
      timestamp: '1700000000123456789',
      line: 'said "hi", \u001b[31mred\u001b[0m',
      labels: { app: 'x' },
      metadata: { pod: 'p' },
      parsed: {},
    });
  });

  test('of CSV has nanoseconds, the columns of the list, and quotes', () => {
    expect(exportHeader('csv', columns)).toBe('timestamp,level,pod,line,labels,metadata\r\n');
    expect(exportText(rows, 'csv', columns)).toBe(
      '2023-11-14T22:13:20.123456789Z,unknown,p,"said ""hi"", \u001b[31mred\u001b[0m","{""app"":""x""}","{""pod"":""p""}"\r\n',
    );
  });
});
