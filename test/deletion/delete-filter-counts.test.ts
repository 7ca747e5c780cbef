/**
 * Counts from footers minus hidden rows equal those of reading the entries: a line filter that accepts all
 * lines makes a query read them. Each query runs twice, before and after the hidden rows are known.
 */
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { NS_OF_MINUTE, NS_PER_DAY, NS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { Visibility } from '../../shared/read/query/visibility.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { type DeleteRequest, NOT_BEGUN } from '../../shared/storage/catalog/delete-request.ts';
import { MAX_COUNTED_LEVELS } from '../../shared/storage/chunk/format.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { DeleteFilterSource } from '../../shared/upkeep/deletion/delete-filters.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY, DAY_START_NS, rangeQuery, requester } from '../support/engine.ts';
import { type DatedEntry, pushOf } from '../support/pushes.ts';

/** Retention ends somewhere in the first day. */
const NOW_MS = (DAY + 3) * 86_400_000;

function makeStore(retentionPeriodNs: bigint) {
  const store = memoryObjectStore();
  const table = memoryTable({ clock: SYSTEM_CLOCK });
  const catalog = new Catalog({ table, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock: SYSTEM_CLOCK, ids: SYSTEM_IDS, options });
  let requests: readonly DeleteRequest[] = [];
  let version = 0;
  const deletes = { list: async () => requests, version: async () => version };
  const clock = virtualClock(NOW_MS);
  const visibility = new Visibility({
    deleteFilters: new DeleteFilterSource({ deletes, clock }),
    limitsOf: () => ({ ...DEFAULT_LIMITS, retentionPeriodNs }),
    enabled: true,
  });
  const engine = new QueryEngine({ catalog, source: new ChunkSource(store), clock, visibility });
  return {
    push: (entries: readonly DatedEntry[]) => committer.commit('t', pushOf(entries)),
    setRequests: (next: readonly DeleteRequest[]) => {
      requests = next;
      version++;
    },
    ask: async (text: string, range: { startNs: bigint; endNs: bigint; stepNs: bigint }) => {
      const { result, statistics } = await engine.range(rangeQuery(text, range), requester());
      return { result: JSON.parse(JSON.stringify(result, rounded)), pages: statistics.pagesRead };
    },
  };
}

/** The order of series decides the last digits of their sum. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(12)) : value;
}

function requestOf(i: number, query: string, given: Partial<DeleteRequest> = {}): DeleteRequest {
  return {
    id: i.toString(16).padStart(8, '0'),
    tenant: 't',
    query,
    startNs: DAY_START_NS,
    endNs: DAY_START_NS + 2n * NS_PER_DAY,
    intervalNs: 0n,
    createdMs: NOW_MS,
    ...NOT_BEGUN,
    ...given,
  };
}

const arbitraryEntry: fc.Arbitrary<DatedEntry> = fc.record({
  stream: fc.record({ app: fc.constantFrom('a', 'b'), pod: fc.constantFrom('1', '2') }),
  day: fc.constantFrom(DAY, DAY + 1),
  time: fc
    .tuple(fc.constantFrom(0, 1, 2, 5, 720, 1439), fc.constantFrom(0, 1, NS_OF_MINUTE / 2, NS_OF_MINUTE - 1))
    .map(([minute, ns]) => minute * NS_OF_MINUTE + ns),
  line: fc.constantFrom('user-17', 'user-18 größer', 'user-19', '', 'x', '{"user":"user-17"}'),
  metadata: fc.dictionary(fc.constant('detected_level'), fc.constantFrom('info', 'error')),
});

const arbitraryRequest = fc.record({
  query: fc
    .tuple(
      fc.constantFrom('{app="a"}', '{app=~".+"}', '{pod="2"}', '{app="b", pod="1"}'),
      fc.oneof(
        {
          weight: 5,
          arbitrary: fc.constantFrom('|= "user-17"', '|= "user-18"', '|~ "user-1[79]"', '|= "user-1" != "7"'),
        },
        { weight: 2, arbitrary: fc.constantFrom('| detected_level="error"', '| json | user="user-17"') },
        { weight: 1, arbitrary: fc.constant('') },
      ),
    )
    .map(([selector, stages]) => `${selector} ${stages}`),
  startNs: fc.constantFrom(0n, 1n, 2n * NS_PER_MINUTE + 1n, NS_PER_DAY).map(ns => DAY_START_NS + ns),
  endNs: fc
    .constantFrom(5n * NS_PER_MINUTE, 720n * NS_PER_MINUTE, 2n * NS_PER_DAY)
    .map(ns => DAY_START_NS + ns),
  sealedMs: fc.oneof(
    { weight: 6, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant(1) },
  ),
});

const arbitraryQuery = fc.record({
  text: fc
    .tuple(
      fc.constantFrom('sum(%)', '%', 'sum by (detected_level) (%)', 'sum by (pod) (%)', 'count(%)'),
      fc.constantFrom('count_over_time', 'rate', 'bytes_over_time', 'bytes_rate', 'absent_over_time'),
      fc.constantFrom('{app=~".+"}', '{app="a"}', '{pod="2"}'),
      fc.constantFrom('', ' | detected_level="error"', ' | drop pod'),
      fc.constantFrom('1m', '3m', '1d'),
    )
    .map(
      ([around, op, selector, stages, range]) =>
        (filter: string) =>
          around.replace('%', `${op}(${selector}${filter}${stages}[${range}])`),
    ),
  stepNs: fc.constantFrom(NS_PER_MINUTE, 5n * NS_PER_MINUTE),
  startNs: fc.constantFrom(0n, NS_PER_MINUTE, 715n * NS_PER_MINUTE, NS_PER_DAY).map(ns => DAY_START_NS + ns),
  lengthNs: fc.constantFrom(0n, 10n * NS_PER_MINUTE, NS_PER_DAY),
});

test('any history, requests and retention: the same with and without lines', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(arbitraryEntry, { minLength: 1, maxLength: 10 }), { minLength: 1, maxLength: 3 }),
      fc.array(fc.array(arbitraryRequest, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 2 }),
      fc.array(arbitraryQuery, { minLength: 1, maxLength: 4 }),
      fc.oneof(
        { weight: 3, arbitrary: fc.constant(0n) },
        { weight: 1, arbitrary: fc.constant(3n * NS_PER_DAY - 2n * NS_PER_MINUTE - 1n) },
      ),
      async (pushes, versions, queries, periodNs) => {
        const store = makeStore(periodNs);
        for (const push of pushes) await store.push(push);
        const all: DeleteRequest[] = [];
        for (const more of versions) {
          for (const { query, ...given } of more) all.push(requestOf(all.length, query, given));
          store.setRequests(all.slice());
          for (const { text, stepNs, startNs, lengthNs } of queries) {
            const range = { startNs, endNs: startNs + lengthNs, stepNs };
            const before = await store.ask(text(''), range);
            const read = await store.ask(text(' |= ""'), range);
            const after = await store.ask(text(''), range);
            expect(before.result).toEqual(read.result);
            expect(after.result).toEqual(read.result);
          }
        }
      },
    ),
    { numRuns: 80 },
  );
}, 120_000);

describe('hidden lines that are known', () => {
  const LEVELS = MAX_COUNTED_LEVELS + 3;
  const entries = (pod: string): DatedEntry[] =>
    Array.from({ length: 200 }, (_, i) => ({
      stream: { app: 'a', pod },
      day: DAY,
      time: 1 + i * 20_000_000_000,
      line: `user-${i % 50} did something`,
      metadata: { detected_level: `level-${i % LEVELS}` },
    }));
  const range = {
    startNs: DAY_START_NS + 10n * NS_PER_MINUTE,
    endNs: DAY_START_NS + 60n * NS_PER_MINUTE,
    stepNs: NS_PER_MINUTE,
  };

  test.each([
    [
      'are taken out of counts',
      ['1', '2'],
      '{app="a"} |= "user-7 "',
      'sum(count_over_time({app="a"}[1m]))',
      0,
    ],
    ['of bytes too', ['1'], '{app="a"} |= "user-7 "', 'sum by (pod) (bytes_over_time({app="a"}[5m]))', 0],
    [
      'of levels counted together',
      ['1'],
      `{app="a"} | detected_level="level-${LEVELS - 1}"`,
      'rate({app="a"}[1m])',
      1,
    ],
    [
      'where no level is asked for',
      ['1'],
      '{pod="1"} |= "user-34 "',
      'sum(count_over_time({app="a"}[1m]))',
      0,
    ],
    ['all of a stream', ['1', '2'], '{pod="1"} |~ "."', 'sum by (pod) (count_over_time({app="a"}[1m]))', 0],
    [
      'not where two chunks have them',
      ['1', '1'],
      '{app="a"} |= "user-7 "',
      'sum(count_over_time({app="a"}[1m]))',
      6,
    ],
    ['not where all lines go by time', ['1', '2'], '{pod="1"}', 'sum(count_over_time({app="a"}[1m]))', 0],
  ] as const)('%s', async (_, pods, request, query, pages) => {
    const store = makeStore(0n);
    for (const pod of pods) await store.push(entries(pod));
    const without = await store.ask(query, range);
    store.setRequests([requestOf(1, request)]);
    const read = await store.ask(query.replace('}[', '} |= ""['), range);
    const first = await store.ask(query, range);
    const again = await store.ask(query, range);
    expect(read.result).not.toEqual(without.result);
    expect(first.result).toEqual(read.result);
    expect(again.result).toEqual(read.result);
    expect(again.pages).toBe(pages);
  });

  test('a request whose end is moved back no longer hides later entries', async () => {
    const store = makeStore(0n);
    await store.push(entries('1'));
    const query = 'sum(count_over_time({app="a"}[1m]))';
    const before = await store.ask(query, range);
    const request = requestOf(1, '{app="a"} |= "user-7 "');
    store.setRequests([request]);
    const [hidden] = [await store.ask(query, range), await store.ask(query, range)];
    expect(hidden.result).not.toEqual(before.result);
    // State after a forced cancel, with some parts done.
    const cut = { endNs: DAY_START_NS + NS_PER_MINUTE, processedMs: NOW_MS - 1 };
    store.setRequests([{ ...request, ...cut, pickedUpMs: NOW_MS - 2, sealedMs: NOW_MS - 1 }]);
    for (let i = 0; i < 2; i++) expect((await store.ask(query, range)).result).toEqual(before.result);
  });
});
