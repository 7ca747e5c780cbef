import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  csvOf,
  type ExportedPart,
  entryOf,
  exportedParts,
  exportHeader,
  exportText,
} from '../../ui/src/lines/export-rows.ts';
import { logRowsOf } from '../../ui/src/lines/rows.ts';

const RANGE = { startNs: '0', endNs: '1000' };

/** Store with one entry at each time that returns up to `limit` of them. */
function storeOf(times: readonly number[], limit: number) {
  const starts: string[] = [];
  const ask = async ({ startNs }: { readonly startNs: string }): Promise<ExportedPart<readonly number[]>> => {
    starts.push(startNs);
    const left = times.filter(ns => ns >= Number(startNs));
    const body = left.slice(0, limit);
    return { body, entries: body.length, next: left.length > limit ? `${left[limit]}` : undefined };
  };
  return { ask, starts };
}

async function timesOf(parts: AsyncGenerator<ExportedPart<readonly number[]>>): Promise<readonly number[]> {
  const times: number[] = [];
  for await (const { body } of parts) times.push(...body);
  return times;
}

describe('a whole result', () => {
  test('has each entry once, in the order of time', async () => {
    const sets = fc.uniqueArray(fc.integer({ min: 0, max: 999 }), { maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(sets, fc.integer({ min: 1, max: 30 }), async (found, limit) => {
        const times = found.toSorted((a, b) => a - b);
        const { ask, starts } = storeOf(times, limit);
        expect(await timesOf(exportedParts({ ask, range: RANGE }))).toEqual(times);
        expect(starts).toHaveLength(Math.max(1, Math.ceil(times.length / limit)));
      }),
    );
  });

  test('stops after the part that reaches the maximum, and throws errors of requests', async () => {
    const { ask } = storeOf([1, 2, 3, 4, 5, 6, 7], 2);
    expect(await timesOf(exportedParts({ ask, range: RANGE, maxLines: 3 }))).toEqual([1, 2, 3, 4]);
    const fails = async () => {
      throw new Error('no store');
    };
    await expect(timesOf(exportedParts({ ask: fails, range: RANGE }))).rejects.toThrow('no store');
  });
});

describe('a file', () => {
  const entries = logRowsOf(
    [
      {
        stream: { app: 'x' },
        values: [
          [
            '1700000000123456789',
            'said "hi", \u001b[31mred\u001b[0m',
            { structuredMetadata: { pod: 'p' }, parsed: { code: '7' } },
          ],
        ],
      },
    ],
    true,
  ).map(entryOf);
  const columns = [
    { name: 'pod', widthPx: 90 },
    { name: 'code', widthPx: 90 },
  ];
  const CSV =
    '2023-11-14T22:13:20.123456789Z,unknown,p,7,"said ""hi"", \u001b[31mred\u001b[0m","{""app"":""x""}","{""pod"":""p"",""code"":""7""}"\n';

  test('a text file has lines as they are stored', () => {
    expect(exportHeader('text', columns) + exportText(entries, 'text', columns)).toBe(
      'said "hi", \u001b[31mred\u001b[0m\n',
    );
  });

  test('a file of JSON lines has all of an entry, as the store exports it', () => {
    expect(exportHeader('jsonl', columns)).toBe('');
    expect(JSON.parse(exportText(entries, 'jsonl', columns))).toEqual({
      timestamp: '2023-11-14T22:13:20.123456789Z',
      labels: { app: 'x' },
      metadata: { pod: 'p', code: '7' },
      line: 'said "hi", \u001b[31mred\u001b[0m',
    });
  });

  test('a CSV file has nanoseconds, the columns of the list, and quotes', () => {
    expect(exportHeader('csv', columns)).toBe('timestamp,level,pod,code,line,labels,metadata\n');
    expect(exportText(entries, 'csv', columns)).toBe(CSV);
    expect(csvOf(exportText(entries, 'jsonl', columns), columns)).toBe(CSV);
    expect(csvOf('', columns)).toBe('');
  });
});
