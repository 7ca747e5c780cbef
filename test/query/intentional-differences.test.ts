/** Intentional differences D19 and D21 from the reference (docs/reference/differences.md). */
import { describe, expect, test } from '@jest/globals';
import { NS_OF_SECOND, NS_PER_HOUR } from '../../shared/base/model/time-units.ts';
import { DAY, DAY_START_NS, memoryEngine, rangeQuery, requester } from '../support/engine.ts';
import type { DatedEntry } from '../support/pushes.ts';

const entry = (given: Partial<DatedEntry> = {}): DatedEntry => ({
  stream: { app: 'a', pod: '1' },
  day: DAY,
  time: 60 * NS_OF_SECOND,
  line: 'the same',
  metadata: {},
  ...given,
});

function storeOf() {
  const { engine, push } = memoryEngine();
  return {
    push,
    streams: async (query: string, limit = 100, backward = true) => {
      const { result } = await engine.range(rangeQuery(query, { limit, backward }), requester());
      if (result.kind !== 'streams') throw new TypeError(result.kind);
      return result.streams.map(({ text, entries }) => [text, entries.map(({ line }) => line)]);
    },
    count: async (query: string) => {
      const at = {
        startNs: DAY_START_NS + NS_PER_HOUR,
        endNs: DAY_START_NS + NS_PER_HOUR,
        stepNs: NS_PER_HOUR,
      };
      const { result } = await engine.range(rangeQuery(query, at), requester());
      if (result.kind !== 'matrix') throw new TypeError(result.kind);
      return result.series.map(({ values }) => values[0]);
    },
  };
}

const TWINS: readonly (readonly [string, readonly DatedEntry[]])[] = [
  ['two streams', [entry(), entry({ stream: { app: 'a', pod: '2' } })]],
  ['structured metadata', [entry({ metadata: { pod: '1' } }), entry({ metadata: { pod: '2' } })]],
];

describe('D19: entries that become equal are all shown and all counted', () => {
  for (const [where, twins] of TWINS) {
    for (const together of [true, false]) {
      const pushed = together ? 'in one push' : 'in a push each';
      test.each([
        '| drop pod, pod_extracted',
        '| keep app',
        '| label_format pod="x" | drop pod_extracted',
        '| label_format pod="", pod_extracted="" | keep app',
      ])(`%s, by ${where}, ${pushed}`, async stages => {
        const store = storeOf();
        if (together) await store.push(twins);
        else for (const one of twins) await store.push([one]);
        // The same entry again is the same entry, however often it is pushed.
        await store.push([twins[0]]);
        for (const backward of [true, false]) {
          const [stream, ...others] = await store.streams(`{app="a"} ${stages}`, 100, backward);
          expect(stream[1]).toEqual(['the same', 'the same']);
          expect(others).toEqual([]);
          expect(await store.streams(`{app="a"} ${stages}`, 1, backward)).toEqual([
            [stream[0], ['the same']],
          ]);
        }
        expect(await store.count(`sum(count_over_time({app="a"} ${stages} [1h]))`)).toEqual([2]);
        expect(await store.count(`count_over_time({app="a"} ${stages} [1h])`)).toEqual([2]);
      });
    }
  }
});

describe('D21: byte sizes of label filters are exact', () => {
  const sizes = [9_999, 10_000, 10_100, 10_239, 10_240, 10_300];
  test.each<[string, number[]]>([
    ['size < 10KiB', [9_999, 10_000, 10_100, 10_239]],
    ['size >= 10KiB', [10_240, 10_300]],
    ['size = 10KiB', [10_240]],
    ['size != 10KiB', [9_999, 10_000, 10_100, 10_239, 10_300]],
    ['size > 10239B', [10_240, 10_300]],
    ['size <= 10.1KB', [9_999, 10_000, 10_100]],
  ])('%s', async (filter, want) => {
    const store = storeOf();
    await store.push(sizes.map((size, i) => entry({ time: (i + 60) * NS_OF_SECOND, line: `size=${size}B` })));
    const query = `{app="a"} | logfmt | ${filter}`;
    const streams = await store.streams(`${query} | keep app`, 100, false);
    expect(streams.flatMap(([, lines]) => lines)).toEqual(want.map(size => `size=${size}B`));
    expect(await store.count(`sum(count_over_time(${query} [1h]))`)).toEqual([want.length]);
  });
});
