/** Windows of an export: which are requested concurrently, and in which order entries arrive. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { type ExportedPiece, exportedPieces } from '../../bin/cli/export/export-source.ts';
import { exportProgressText } from '../../bin/cli/export/progress.ts';
import { WindowCutter } from '../../bin/cli/export/window-cutter.ts';
import { NS_PER_SECOND as S } from '../../shared/base/model/time-units.ts';

const window = (startNs: bigint, endNs: bigint) => ({ startNs, endNs });

describe('windows of an export', () => {
  test('cover each part once, and never two parts, for any size of responses', () => {
    const lengths = fc.array(fc.bigInt({ min: 1n, max: 300n * S }), { minLength: 1, maxLength: 5 });
    const weights = fc.array(fc.nat(100_000_000), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(lengths, weights, (sizes, bytes) => {
        let at = 7n;
        // The gap in between is a part that is complete already.
        const parts = sizes.map(size => {
          const part = window(at, at + size);
          at += size + 3n;
          return part;
        });
        const cutter = new WindowCutter(parts);
        const reached = parts.map(({ startNs }) => startNs);
        for (let i = 0; i < 20_000; i++) {
          const next = cutter.next();
          if (next === undefined) break;
          expect(next.window.startNs).toBe(reached[next.part]);
          expect(next.window.endNs).toBeGreaterThan(next.window.startNs);
          reached[next.part] = next.window.endNs;
          expect(next.endsPart).toBe(next.window.endNs === parts[next.part].endNs);
          // Very small windows would take long.
          const span = next.window.endNs - next.window.startNs;
          cutter.learn(next.window, span < S ? 0 : bytes[i % bytes.length], 16_000_000);
        }
        expect(reached).toEqual(parts.map(({ endNs }) => endNs));
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ['nothing', 0, 40n],
    ['half', 8e6, 20n],
    ['twice', 32e6, 5n],
    ['little', 1, 40n],
  ])('grow and shrink with the size of a response: %s', (_, bytes, want) => {
    const cutter = new WindowCutter([window(0n, 1000n * S)]);
    cutter.learn(window(0n, 10n * S), bytes, 16e6);
    expect(cutter.next()!.window.endNs).toBe(want * S);
  });
});

describe('requests of an export', () => {
  let close: () => void = () => undefined;
  afterEach(() => close());

  /** A store with an entry each second, which ends an answer after `most` of them. Later windows are answered first. */
  async function store(most: number) {
    const asked: string[] = [];
    let atOnce = 0;
    let mostAtOnce = 0;
    const server = createServer(async (request, response) => {
      const params = new URL(request.url!, 'http://x').searchParams;
      const [start, end] = [BigInt(params.get('start')!), BigInt(params.get('end')!)];
      asked.push(`${start / S}-${end / S}`);
      mostAtOnce = Math.max(mostAtOnce, ++atOnce);
      for (let turn = 0; turn < 20 - (asked.length % 20); turn++) await new Promise(setImmediate);
      atOnce--;
      const last = start + BigInt(most) * S < end ? start + BigInt(most) * S : end;
      // Entries are at whole seconds.
      const [first, next] = [start, last].map(ns => (ns + S - 1n) / S);
      const count = Number(next - first);
      const headers: Record<string, string> = {
        'x-logboom-entries': `${count}`,
        'x-logboom-bytes': `${count * 250_000}`,
      };
      if (last < end) headers['x-logboom-next'] = `${last}`;
      response.writeHead(200, headers);
      response.end(Array.from({ length: count }, (_, i) => `${first + BigInt(i)}\n`).join(''));
    });
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve));
    close = () => {
      server.closeAllConnections();
      server.close();
    };
    const addr = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return { flags: { addr } as never, asked, mostAtOnce: () => mostAtOnce };
  }

  async function piecesFrom(flags: never, parts: readonly ReturnType<typeof window>[], parallel: number) {
    const pieces: ExportedPiece[] = [];
    const request = { query: '{a="b"}', parts, format: 'text' as const, parallel };
    for await (const piece of exportedPieces(flags, request)) pieces.push(piece);
    return pieces;
  }
  const textOf = (pieces: readonly ExportedPiece[]) =>
    pieces.map(({ body }) => Buffer.concat(body).toString()).join('');
  const seconds = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, i) => `${from + i}\n`).join('');

  test('return entries in time order, although several run at once', async () => {
    const { flags, mostAtOnce } = await store(1000);
    const pieces = await piecesFrom(flags, [window(0n, 2000n * S)], 3);
    expect(textOf(pieces)).toBe(seconds(0, 2000));
    expect(pieces.filter(({ endsPart }) => endsPart)).toHaveLength(1);
    expect(pieces.at(-1)!.endsPart).toBe(true);
    expect(mostAtOnce()).toBe(3);
  });

  test('continue where the store ended a response, and end with their part', async () => {
    const { flags, asked } = await store(7);
    const parts = [window(0n, 100n * S), window(200n * S, 230n * S)];
    const pieces = await piecesFrom(flags, parts, 2);
    expect(textOf(pieces)).toBe(seconds(0, 100) + seconds(200, 230));
    expect(
      pieces.filter(({ endsPart }) => endsPart).map(({ part, completes }) => [part, completes.endNs]),
    ).toEqual([
      [0, 100n * S],
      [1, 230n * S],
    ]);
    expect(asked).toContain('7-60');
  });
});

describe('progress of an export', () => {
  test.each([
    [{ entries: 0, bytes: 0, doneNs: 0n }, '[--------------------]   0%  0 entries  0B'],
    [{ entries: 9000, bytes: 1_000_000, doneNs: 250n }, '[#####---------------]  25%  9000 entries  1.0MB'],
    [{ entries: 1, bytes: 10, doneNs: 1000n }, '[####################] 100%  1 entries  10B'],
  ])('%j', (counts, want) => {
    expect(exportProgressText(counts, 1000n)).toBe(want);
  });
});
