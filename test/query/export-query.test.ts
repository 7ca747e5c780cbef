/** Exports compared with the pushed entries, for any response size. */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { BadRequestError } from '../../shared/base/model/errors.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import type { PlannedPage } from '../../shared/read/query/day-plan.ts';
import { windowEnd } from '../../shared/read/query/export-window.ts';
import { PageCache } from '../../shared/read/query/page-cache.ts';
import { type EXPORT_FORMATS, encodeExport } from '../../shared/server/http/export-format.ts';
import { decodeColumns } from '../../shared/server/open-data/entry-columns.ts';
import { DAY, DAY_START_NS, memoryEngine, requester } from '../support/engine.ts';
import { type DatedEntry, identityOf } from '../support/pushes.ts';
import { arbitraryEntries } from '../support/rows.ts';

const RANGE = { startNs: DAY_START_NS, endNs: DAY_START_NS + 3n * NS_PER_DAY };
const REST = async () => undefined;

function entry(time: number, line: string, stream: Record<string, string> = { app: 'a' }): DatedEntry {
  return { stream, day: DAY, time, line, metadata: {} };
}

type Store = ReturnType<typeof memoryEngine>;

/** The answers of all requests, one behind the other. */
async function exported(
  { engine }: Store,
  text: string,
  { maxBytes = 1000, format = 'jsonl' as const, who = requester() } = {},
) {
  const parts: { text: string; count: number }[] = [];
  let { startNs } = RANGE;
  while (startNs < RANGE.endNs) {
    const query = { ...RANGE, startNs, text, expr: parseQuery(text) as never, maxBytes, hasLabels: true };
    startNs = await engine.export(query, who, async part => {
      expect(part.endNs).toBeGreaterThan(startNs);
      const bytes = Buffer.from((await encodeExport(part, format, REST)).body);
      parts.push({ text: bytes.toString('utf8'), count: part.rows.count });
      return part.endNs;
    });
  }
  const lines = parts.flatMap(part => part.text.split('\n').slice(0, -1));
  return { parts, entries: lines.map(line => JSON.parse(line)) };
}

describe('an export', () => {
  test('contains every entry once, in time order, for any response size', async () => {
    const batches = fc.array(
      arbitraryEntries(15).chain(entries =>
        fc
          .tuple(...entries.map(() => fc.constantFrom(DAY, DAY + 2)))
          .map(days => entries.map((one, i): DatedEntry => ({ ...one, day: days[i] }))),
      ),
      { minLength: 1, maxLength: 4 },
    );
    await fc.assert(
      fc.asyncProperty(batches, fc.integer({ min: 1, max: 400 }), async (pushes, maxBytes) => {
        const store = memoryEngine();
        for (const push of pushes) await store.push(push);
        const { entries } = await exported(store, '{app=~".+"}', { maxBytes });
        const all = [...new Map(pushes.flat().map(one => [identityOf(one), one])).values()];
        const key = (timestamp: string, line: string) => `${timestamp} ${line.toWellFormed()}`;
        const want = all.map(one => {
          const ms = (BigInt(one.day) * NS_PER_DAY + BigInt(one.time)) / 1_000_000n;
          const seconds = new Date(Number(ms)).toISOString().slice(0, -5);
          return key(`${seconds}.${String(one.time % 1e9).padStart(9, '0')}Z`, one.line);
        });
        expect(entries.map(one => key(one.timestamp, one.line)).sort()).toEqual(want.sort());
        const times = entries.map(one => one.timestamp);
        expect(times).toEqual([...times].sort());
      }),
      { numRuns: 40 },
    );
  });

  test('keeps entries with one timestamp in one response, regardless of their size', async () => {
    const store = memoryEngine();
    await store.push(Array.from({ length: 50 }, (_, i) => entry(7, `line ${i} ${'x'.repeat(50)}`)));
    await store.push([entry(6, 'before'), entry(8, 'behind')]);
    const { parts } = await exported(store, '{app="a"}', { maxBytes: 100 });
    expect(parts.map(({ count }) => count)).toEqual([1, 50, 1]);
  });

  test('unpacks a page once for the answers that it is in', async () => {
    const pages = new PageCache(8 * 1024 * 1024);
    const store = memoryEngine(0, pages);
    await store.push(Array.from({ length: 100 }, (_, i) => entry(i * 1e9, `line ${i}`.padEnd(100))));
    const { parts } = await exported(store, '{app="a"}', { maxBytes: 2000 });
    expect(parts.length).toBeGreaterThan(4);
    expect(pages.misses).toBe(1);
    expect(pages.hits).toBeGreaterThan(4);
    expect(pages.figures.lineBytes).toBe(10_000);
  });

  test('runs the pipeline, and separates labels and metadata', async () => {
    const store = memoryEngine();
    const lines = Array.from({ length: 200 }, (_, i) =>
      entry(i * 1e9, `{"n":${i}}`, { app: 'a', pod: `${i % 3}` }),
    );
    await store.push(lines.map((one, i) => ({ ...one, metadata: { trace: `t${i}` } })));
    const { entries } = await exported(store, '{app="a"} | json | n >= 150 | line_format "{{.n}}!"', {
      maxBytes: 300,
    });
    expect(entries).toHaveLength(50);
    expect(entries[0]).toEqual({
      timestamp: expect.stringMatching(/T00:02:30\.000000000Z$/),
      labels: { app: 'a', pod: '0' },
      metadata: { trace: 't150', n: '150' },
      line: '150!',
    });
  });

  test('counts considered data against the limits of the tenant', async () => {
    const store = memoryEngine();
    await store.push([entry(1, 'x'.repeat(100))]);
    const who = requester();
    const limited = { ...who, limits: { ...who.limits, maxQueryBytesRead: 50 } };
    await expect(exported(store, '{app="a"}', { who: limited })).rejects.toThrow(BadRequestError);
  });
});

describe('export formats', () => {
  const lines = ['plain', 'a "quoted", line', 'tab\tand \\', 'two\nlines', 'ü\u2028\u0001', 'x\r', ''];

  async function bytesOf(format: (typeof EXPORT_FORMATS)[number], given: readonly string[]): Promise<Buffer> {
    const store = memoryEngine();
    await store.push(given.map((line, i) => entry(i, line)));
    const text = '{app="a"}';
    const query = {
      ...RANGE,
      text,
      expr: parseQuery(text) as never,
      maxBytes: 1e6,
      hasLabels: format !== 'text',
    };
    return store.engine.export(query, requester(), async part =>
      Buffer.from((await encodeExport(part, format, REST)).body),
    );
  }

  test('text contains only the lines', async () => {
    expect((await bytesOf('text', lines)).toString()).toBe(`${lines.join('\n')}\n`);
  });

  test('CSV quotes fields that need it', async () => {
    const rows = (await bytesOf('csv', lines.slice(0, 2))).toString().split('\n');
    expect(rows).toEqual([
      `${new Date(Number(DAY_START_NS / 1_000_000n)).toISOString().slice(0, 19)}.000000000Z,"{app=""a""}",{},plain`,
      expect.stringMatching(/,\{\},"a ""quoted"", line"$/),
      '',
    ]);
  });

  test('JSON lines represent any line', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'binary' }), { minLength: 1, maxLength: 5 }),
        async more => {
          const bytes = await bytesOf('jsonl', [...lines, ...more]);
          const got = bytes.toString('utf8').split('\n').slice(0, -1);
          expect(got.map(line => JSON.parse(line).line)).toEqual(
            [...lines, ...more].map(line => line.toWellFormed()),
          );
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('columns for programs', () => {
  test('have every entry, with the objects of its label set', async () => {
    const store = memoryEngine();
    const lines = ['plain', 'two\nlines', 'ü\u2028\u0001', '', 'last'];
    await store.push(lines.map((line, i) => entry(i % 2 === 0 ? i : 86_399_999_999_999 - i, line)));
    await store.push([{ ...entry(10, 'other', { app: 'b' }), metadata: { trace: 'é' } }]);
    const text = '{app=~".+"}';
    const query = { ...RANGE, text, expr: parseQuery(text) as never, maxBytes: 1e6, hasLabels: true };
    const bytes = await store.engine.export(query, requester(), async part =>
      Buffer.from((await encodeExport(part, 'columns', REST)).body),
    );
    // The bytes are not aligned in memory.
    const moved = Buffer.concat([Buffer.from('x'), bytes]).subarray(1);
    const { dayStartNs, sets, times, labels, ends, lines: texts } = decodeColumns(moved);
    expect(dayStartNs).toBe(DAY_START_NS);
    const lineOf = (i: number) => texts.toString('utf8', i === 0 ? 0 : ends[i - 1] + 1, ends[i]);
    expect(Array.from(times, (time, i) => [time, lineOf(i)])).toEqual([
      [0, 'plain'],
      [2, 'ü\u2028\u0001'],
      [4, 'last'],
      [10, 'other'],
      [86_399_999_999_996, ''],
      [86_399_999_999_998, 'two\nlines'],
    ]);
    expect(texts.toString('utf8', ends[5])).toBe('\n');
    expect(sets[labels[3]]).toMatchObject({ labels: { app: 'b' }, metadata: { trace: 'é' } });
    expect(labels[0]).toBe(labels[5]);
  });

  test('refuses columns of an unknown version', () => {
    expect(() => decodeColumns(Buffer.from([9, 0, 0, 0, 0, 0, 0, 0]))).toThrow('version 9');
  });
});

describe('the window of a response', () => {
  const page = (...runs: readonly (readonly [first: number, last: number, bytes: number])[]) =>
    ({
      runs: runs.map(([first, last, lineBytes]) => ({ first, last, lineBytes, metadataBytes: 0 })),
    }) as unknown as PlannedPage;

  test.each([
    ['all fits', [page([0, 99, 50])], { from: 0, to: 100, maxBytes: 50 }, 100],
    ['half fits', [page([0, 99, 100])], { from: 0, to: 100, maxBytes: 50 }, 50],
    ['two runs', [page([0, 99, 100]), page([0, 99, 100])], { from: 0, to: 100, maxBytes: 50 }, 25],
    ['a later start', [page([0, 99, 100])], { from: 50, to: 100, maxBytes: 10 }, 60],
    ['one timestamp', [page([7, 7, 1000])], { from: 7, to: 100, maxBytes: 10 }, 8],
    ['nothing before the bytes', [page([7, 7, 1000])], { from: 0, to: 100, maxBytes: 10 }, 7],
    ['no pages', [], { from: 0, to: 100, maxBytes: 10 }, 100],
  ])('%s', (_, pages, window, want) => {
    expect(windowEnd(pages, window)).toBe(want);
  });
});
