import { Readable } from 'node:stream';
import type { WriteStream } from 'node:tty';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineSplitter } from '../../bin/cli/line-splitter.ts';
import { ProgressLine, progressLineText } from '../../bin/cli/progress-line.ts';
import { batchesOf, type PushBatch } from '../../bin/cli/push-batch.ts';
import { type PushPlan, plainBatches, pushLines } from '../../bin/cli/push-lines.ts';
import { RetryNotes } from '../../bin/cli/retry-notes.ts';
import { until } from '../support/until.ts';
import { type Recorded, type RecordingStore, type Reply, startRecordingStore } from './recording-store.ts';

function split(pieces: readonly Buffer[]): string[] {
  const lines: string[] = [];
  const splitter = new LineSplitter((source, start, end) => lines.push(source.toString('utf8', start, end)));
  for (const piece of pieces) splitter.feed(piece);
  splitter.finish();
  return lines;
}

function cut(bytes: Buffer, sizes: readonly number[]): Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const size of sizes) {
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  return [...pieces, bytes.subarray(at)];
}

describe('lines of a text', () => {
  test.each([
    ['', []],
    ['\n', ['']],
    ['a', ['a']],
    ['a\n', ['a']],
    ['a\r\nb\r\n', ['a', 'b']],
    ['a\r', ['a']],
    ['\r\n\r\n', ['', '']],
    ['a\rb\n\nc', ['a\rb', '', 'c']],
  ])('%j', (text, want) => {
    expect(split([Buffer.from(text)])).toEqual(want);
    expect(split([...Buffer.from(text)].map(byte => Buffer.of(byte)))).toEqual(want);
  });

  test('are the same for chunks of any size', () => {
    const text = fc
      .array(fc.constantFrom('a', 'ü', '\r', '\n', '\r\n', '🙂', 'longer'), { maxLength: 40 })
      .map(parts => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 20 }), (whole, sizes) => {
        const want = whole.split('\n').map(line => line.replace(/\r$/, ''));
        // Text after the last end mark is a line only if it is not empty.
        if (whole === '' || whole.endsWith('\n')) want.pop();
        expect(split(cut(Buffer.from(whole), sizes))).toEqual(want);
      }),
    );
  });

  test('refuse an endless line before it fills the memory', () => {
    const splitter = new LineSplitter(() => {}, { maxLineBytes: 100 });
    splitter.feed(Buffer.from(`short\n${'x'.repeat(99)}`));
    expect(() => splitter.feed(Buffer.from('xx'))).toThrow('line 2 is longer than 100 bytes');
  });
});

async function collect(input: AsyncIterable<Buffer>, batchBytes: number, maxWaitMs = 60_000) {
  const batches: PushBatch[] = [];
  let nowNs = 1000n;
  const options = { batchBytes, maxWaitMs, nowNs: () => (nowNs -= 100n) };
  for await (const batch of batchesOf(input, options)) batches.push(batch);
  return batches.map(batch => ({ ...batch, values: JSON.parse(`[${batch.values}]`) as [string, string][] }));
}

describe('batches', () => {
  test('contain every line once, in order and numbered, with increasing timestamps although the clock is set back', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.string({ maxLength: 20, unit: 'grapheme' }).filter(line => !/[\r\n]/.test(line)),
          {
            minLength: 1,
            maxLength: 30,
          },
        ),
        fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 8 }),
        fc.integer({ min: 1, max: 300 }),
        async (lines, sizes, batchBytes) => {
          const bytes = Buffer.from(`${lines.join('\n')}\n`);
          const pieces = cut(bytes, sizes).filter(piece => piece.length > 0);
          const batches = await collect(Readable.from(pieces), batchBytes);
          const entries = batches.flatMap(batch => batch.values);
          expect(entries.map(([, line]) => line)).toEqual(lines);
          entries.reduce((before, [time]) => {
            expect(BigInt(time) > before).toBe(true);
            return BigInt(time);
          }, 900n);
          let first = 1;
          for (const batch of batches) {
            expect(batch).toMatchObject({ firstLine: first, lines: batch.values.length });
            first += batch.lines;
          }
          expect(batches.at(-1)?.readBytes).toBe(bytes.length);
        },
      ),
    );
  });

  test('do not wait for a slow input to fill them', async () => {
    const seen: string[] = [];
    async function* slow() {
      yield Buffer.from('one\nhalf a ');
      // Continues only when the first line has arrived as a batch.
      await until(() => seen.length > 0);
      yield Buffer.from('line\n');
    }
    const options = { batchBytes: 1e6, maxWaitMs: 5, nowNs: () => 1n };
    for await (const batch of batchesOf(slow(), options)) seen.push(batch.values);
    expect(seen).toEqual(['["2","one"]', '["3","half a line"]']);
  });
});

const stores: RecordingStore[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map(store => store.stop()));
});

async function planFor(
  reply: (request: Recorded) => Reply | 'drop',
): Promise<PushPlan & { retried: string[] }> {
  const store = await startRecordingStore(reply);
  stores.push(store);
  const retried: string[] = [];
  return {
    store: { addr: new URL(store.url) },
    batches: input => plainBatches(input, { job: 'x' }, { batchBytes: 60, maxWaitMs: 1000, nowNs: () => 1n }),
    retries: { maxAttempts: 4, firstDelayMs: 1, maxDelayMs: 3 },
    onStored: () => {},
    onRetry: (problem, again) => retried.push(`${problem}; ${again}`),
    retried,
  };
}

describe('pushing', () => {
  test('waits as long as the store requests', async () => {
    const replies = [{ status: 429, body: 'slow', headers: { 'retry-after': '0.02' } }, { status: 204 }];
    const plan = await planFor(() => replies[stores[0].requests.length - 1]);
    await pushLines(Readable.from([Buffer.from('a')]), plan);
    expect(plan.retried).toEqual(['429 Too Many Requests: slow; retrying in 0.02 s (attempt 1 of 4)']);
  });

  test('gives up after a bounded number of attempts, each after a longer wait', async () => {
    const plan = await planFor(({ body }) =>
      body.includes('"a"') ? { status: 204 } : { status: 503, body: 'busy' },
    );
    const input = Readable.from([Buffer.from('a\nb\nc\nd\ne\nf\n')]);
    await expect(pushLines(input, plan)).rejects.toThrow(
      'lines 1 to 3 are stored, lines 4 to 6 were not stored after 4 attempts: 503 Service Unavailable: busy',
    );
    expect(stores[0].requests).toHaveLength(5);
    expect(plan.retried).toEqual([
      '503 Service Unavailable: busy; retrying in 0.001 s (attempt 1 of 4)',
      '503 Service Unavailable: busy; retrying in 0.002 s (attempt 2 of 4)',
      '503 Service Unavailable: busy; retrying in 0.003 s (attempt 3 of 4)',
    ]);
    expect(input.destroyed).toBe(true);
  });

  test('says how to start a store that cannot be reached', async () => {
    const plan = await planFor(() => ({ status: 204 }));
    await stores.splice(0)[0].stop();
    await expect(pushLines(Readable.from([Buffer.from('a')]), plan)).rejects.toThrow(
      /^line 1 was not stored after 4 attempts: cannot reach the store at http:.* \(connection refused\); start it with "npm start"/,
    );
  });

  test('reports the first refusal in input order', async () => {
    const plan = await planFor(({ body }) => {
      if (body.includes('"a"')) return { status: 204 };
      // The second batch is retried before it is refused. The third is refused immediately.
      if (body.includes('"d"')) return { status: stores[0].requests.length < 6 ? 503 : 400, body: 'no' };
      return { status: 413, body: 'no' };
    });
    const input = Readable.from([Buffer.from('a\nb\nc\nd\ne\nf\ng\nh\ni\n')]);
    await expect(pushLines(input, { ...plan, retries: { ...plan.retries, maxAttempts: 9 } })).rejects.toThrow(
      'lines 1 to 3 are stored, lines 4 to 6 were refused: 400 Bad Request: no',
    );
  });

  test('fails if its input fails', async () => {
    const plan = await planFor(() => ({ status: 204 }));
    const input = new Readable({ read: () => {} });
    input.push('a\n');
    setTimeout(() => input.destroy(new Error('disk is gone')), 1);
    await expect(pushLines(input, plan)).rejects.toThrow('disk is gone');
  });

  test('counts stored lines', async () => {
    const totals: unknown[] = [];
    const plan = { ...(await planFor(() => ({ status: 204 }))), onStored: (t: unknown) => totals.push(t) };
    const input = Readable.from([Buffer.from('a\nb\nc\nd'), Buffer.from('\n')]);
    await expect(pushLines(input, plan)).resolves.toEqual({ lines: 4, bytes: 8 });
    expect(totals).toHaveLength(2);
    expect(totals[1]).toEqual({ lines: 4, bytes: 8 });
  });
});

test.each([
  [
    { bytes: 1_000_000, totalBytes: 4_000_000, lines: 9000, seconds: 0.5 },
    '[#####---------------]  25%  1.0MB of 4.0MB  9000 lines  2.0MB/s',
  ],
  [{ bytes: 5, totalBytes: undefined, lines: 1, seconds: 1 }, '5B  1 lines  5B/s'],
  [
    { bytes: 20, totalBytes: 10, lines: 1, seconds: 1 },
    '[####################] 100%  20B of 10B  1 lines  20B/s',
  ],
])('progress %j', (state, want) => {
  expect(progressLineText(state)).toBe(want);
});

describe('requests that a busy store refuses a hundred times', () => {
  const busy = (notes: RetryNotes) => {
    for (let i = 1; i <= 100; i++) notes.retry('429 Too Many Requests', `retrying (attempt ${i})`);
    notes.end();
  };

  test('stay on the progress line of a terminal', () => {
    let written = '';
    const write = (text: string) => {
      written += text;
    };
    const terminal = { columns: 200, write } as unknown as WriteStream;
    const said: string[] = [];
    busy(new RetryNotes(new ProgressLine(terminal, 1000), text => said.push(text)));
    expect(said).toEqual(['requests were retried 100 times']);
    expect(written).toContain('429 Too Many Requests; retrying (attempt 1)');
    expect(written).not.toContain('\n');
  });

  test('are reported once without a terminal', () => {
    const said: string[] = [];
    busy(new RetryNotes(undefined, text => said.push(text)));
    expect(said).toEqual([
      '429 Too Many Requests; retrying (attempt 1)',
      'requests were retried 99 more times',
    ]);
  });
});
