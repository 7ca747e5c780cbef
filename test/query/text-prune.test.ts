/**
 * Pages pruned by the text index contain nothing that the query would return: results are the same without
 * the index.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { quote } from '../../shared/base/model/quote.ts';
import { NS_OF_SECOND } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { ObjectStore } from '../../shared/base/ports/object-store.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { QUICK_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { Compactor } from '../../shared/upkeep/compaction/compactor.ts';
import { GroupCommitter } from '../../shared/write/ingest/group-commit.ts';
import { DAY, DAY_START_NS, memoryEngine, rangeQuery, requester } from '../support/engine.ts';
import { type DatedEntry, pushOf } from '../support/pushes.ts';

/** Each stream is a separate page: 720 KiB of lines. */
const STREAMS = ['api', 'db', 'web', 'job'];
const ROWS = 3400;

/** Lines of every kind that the store parses, with ids that occur once, words of one stream, escapes and odd letters. */
function lineOf(stream: string, i: number): string {
  const id = (((i + 1) * 2_654_435_761) >>> 0).toString(16).padStart(8, '0');
  const user = `user-${stream}-${i % 97}`;
  const noise = `${id}-${stream}`.repeat(14);
  switch (stream) {
    case 'api':
      return `{"level":"${i % 50 === 0 ? 'error' : 'info'}","id":"${id}","user":"${user}","path":"/v1/${stream}/${i}","msg":"caf\\u00e9 \\"${i}\\"","noise":"${noise}"}`;
    case 'db':
      return `level=${i % 40 === 0 ? 'warn' : 'info'} id=${id} user=${user} took=${i}ms msg="took ${i} ms, größer" noise=${noise}`;
    case 'web':
      return `10.0.${i % 256}.${i % 7} - ${user} "GET /${stream}/${id} HTTP/1.1" ${200 + (i % 5)} ${noise}`;
    default:
      return `Job ${id} of ${user}\udcff\udcfe ended: ${i % 30 === 0 ? 'Handshake Timeout, deadloc\u212a' : 'ok'} ${noise}`;
  }
}

const entries: DatedEntry[] = STREAMS.flatMap(stream =>
  Array.from({ length: ROWS }, (_, i) => ({
    stream: { app: stream, env: 'test' },
    day: DAY,
    time: i * NS_OF_SECOND,
    line: lineOf(stream, i),
    metadata: {
      zone: `z-${stream}`,
      request: `${stream}-${i % 500}`,
      ...(i % 3 === 0 ? { user: `meta-${i % 5}` } : {}),
    } as Record<string, string>,
  })),
);

/** Engines that prune: near, and distant with text indexes read before footers or next to them. */
const pruning: QueryEngine[] = [];
let scanning: QueryEngine;
let distant: Awaited<ReturnType<typeof mergedStore>>;

class IndexesFirst extends ChunkSource {
  override readonly manyFooterBytes = 0;
}

/** Poses as a store whose text indexes are too large for the read of the footer. */
class IndexesAhead extends ChunkSource {
  override tailHasTextIndex(): boolean {
    return false;
  }
}

/** One merged chunk. */
async function mergedStore(isDistant: boolean) {
  const [clock, ids] = [SYSTEM_CLOCK, SYSTEM_IDS];
  const store: ObjectStore = { ...memoryObjectStore(), isDistant };
  const catalog = new Catalog({ table: { ...memoryTable({ clock }), isDistant }, clock, ids });
  const options = { waitMs: 0, maxGroupBytes: 1, inlineMaxBytes: 0, compression: QUICK_COMPRESSION };
  const committer = new GroupCommitter({ store, catalog, clock, ids, options });
  // Two chunks, so that there is something to merge.
  for (const half of [0, 1]) await committer.commit('t', pushOf(entries.filter((_, i) => i % 2 === half)));
  const targets = { targetBytes: 128 * 1024 * 1024, inlineMaxBytes: 0, graceMs: 600_000 };
  const compactor = new Compactor({ catalog, store, clock, ids, options: targets });
  const signal = new AbortController().signal;
  await compactor.compactDay({ tenant: 't', day: DAY, force: true, untilMs: Infinity, signal });
  return {
    store,
    catalog,
    engineOf: (source: ChunkSource) => new QueryEngine({ catalog, source, clock }),
  };
}

beforeAll(async () => {
  const plain = memoryEngine(0);
  await plain.push(entries);
  scanning = plain.engine;
  const near = await mergedStore(false);
  distant = await mergedStore(true);
  pruning.push(
    near.engineOf(new ChunkSource(near.store)),
    distant.engineOf(new IndexesFirst(distant.store)),
    distant.engineOf(new IndexesAhead(distant.store)),
  );
});

async function askBoth(text: string, limit = 20_000) {
  const limits = { ...requester().limits, maxEntriesLimitPerQuery: 0, maxQuerySeries: 100_000 };
  const query = rangeQuery(text, { limit, stepNs: 600n * BigInt(NS_OF_SECOND) });
  const ask = (engine: QueryEngine) =>
    engine.range(query, requester({ limits })).then(
      ({ result, statistics }) => ({ result, statistics }),
      (error: Error) => ({ result: error.message, statistics: undefined }),
    );
  const [whole, pruned, ...others] = await Promise.all([scanning, ...pruning].map(ask));
  for (const { result } of [pruned, ...others])
    expect({ text, result }).toEqual({ text, result: whole.result });
  return pruned.statistics;
}

/** Parts of stored lines, most of them whole words, some in another case or with a changed letter. */
const arbitraryNeedle = fc
  .record({
    line: fc.nat(entries.length - 1),
    from: fc.nat(400),
    length: fc.integer({ min: 1, max: 40 }),
    change: fc.constantFrom('none', 'none', 'none', 'upper', 'letter'),
  })
  .map(({ line, from, length, change }) => {
    const text = [...entries[line].line].slice(from % 120, (from % 120) + length).join('');
    if (change === 'upper') return text.toUpperCase();
    return change === 'letter' ? text.replace(/[a-z0-9]/, 'Z') : text;
  });

const quoted = (needle: string) => quote(needle);
/** A regular expression cannot contain bytes that are not UTF-8; it uses U+FFFD. */
const escaped = (needle: string) => needle.toWellFormed().replaceAll(/[\\^$.*+?()[\]{}|/"]/g, '\\$&');

const arbitraryStages = fc.oneof(
  arbitraryNeedle.map(needle => `|= ${quoted(needle)}`),
  fc.tuple(arbitraryNeedle, arbitraryNeedle).map(([a, b]) => `|= ${quoted(a)} or ${quoted(b)}`),
  arbitraryNeedle.map(needle => `|~ ${quoted(`(?i)${escaped(needle)}`)}`),
  fc
    .tuple(arbitraryNeedle, arbitraryNeedle)
    .map(([a, b]) => `|~ ${quoted(`(${escaped(a)}|${escaped(b)}).*x?`)}`),
  arbitraryNeedle.map(needle => `!= ${quoted(needle)}`),
  arbitraryNeedle.map(needle => `| decolorize |= ${quoted(needle)}`),
  arbitraryNeedle.map(needle => `| line_format "{{.app}} {{__line__}}" |= ${quoted(needle)}`),
  fc.constantFrom(
    '| json | level="error"',
    '| json | user="user-api-7"',
    '| logfmt | user="user-db-7"',
    '| json | user="meta-1"',
    '| json | user_extracted="user-api-3"',
    '| json | msg="café \\"7\\""',
    '| logfmt | took="17ms"',
    '| pattern "<ip> - <user> <_>" | user_extracted="user-web-5"',
    '|~ "(?i)DEADLOCK"',
    '| json | env="test" | id="9e3779b1"',
    '| request="db-317"',
    '| zone=~"z-(api|job)"',
    '| json | level="error" | request="api-150"',
    '| logfmt | took > 1400ms',
    '| json path="path" | path="/v1/api/17"',
    '| logfmt | level="warn" or level="error"',
  ),
);

const arbitraryQuery = fc
  .record({
    selector: fc.constantFrom('{env="test"}', '{app=~"api|db"}', '{app="job"}'),
    stages: fc.array(arbitraryStages, { minLength: 1, maxLength: 2 }).map(list => list.join(' ')),
    metric: fc.boolean(),
  })
  .map(({ selector, stages, metric }) =>
    metric ? `sum by (app) (count_over_time(${selector} ${stages} [10m]))` : `${selector} ${stages}`,
  );

test('any query returns the same with and without the text index', async () => {
  await fc.assert(
    fc.asyncProperty(arbitraryQuery, async query => {
      await askBoth(query);
    }),
    { numRuns: 15 },
  );
});

describe('pruned pages', () => {
  test.each([
    ['an absent word', '{env="test"} |= "nowhere-at-all-0815"', 4],
    ['an id of one line', '{env="test"} |= "\\"id\\":\\"9e3779b1\\""', 3],
    ['a word of one stream', '{env="test"} |= "Handshake"', 3],
    ['the same in another case', '{env="test"} |~ "(?i)hANDSHAKE tIMEOUT"', 3],
    ['bytes that are not UTF-8', '{env="test"} |= "\\xff\\xfe ended"', 3],
    ['bytes that no line has', '{env="test"} |= "\\xff\\xff ended"', 4],
    [
      'bytes of a captured label',
      '{env="test"} | pattern "Job <_> of <who> ended<_>" | who="user-job-7\\xff\\xfe"',
      2,
    ],
    ['an expression that cannot name them', '{env="test"} |~ "user-job-7\\\\x{FFFD}+ ended: "', 2],
    ['a word beside an empty alternative', '{env="test"} |~ "Handshake|" |= "" or "Handshake"', 3],
    ['an alternation of two streams', '{env="test"} |~ "Handshake|größer"', 2],
    ['the value of a field', '{env="test"} | json | path="/v1/api/17"', 3],
    ['a value of metadata with many', '{env="test"} | request="db-317"', 2],
    ['an absent one', '{env="test"} | request="db-500"', 3],
    ['a value of metadata with few', '{env="test"} | zone="z-api" or zone="z-web"', 2],
    ['a short value of a field', '{env="test"} | json | level="fatal"', 3],
    ['a range of numbers', '{env="test"} | logfmt | took > 4s', 1],
    ['an expression', '{env="test"} | json l="level" | l="fatal"', 3],
    ['a name that nothing has', '{env="test"} | zones="z-api"', 4],
    ['a field that may be metadata', '{env="test"} | json | user="user-api-97"', 1],
    ['nothing behind a changed line', '{env="test"} | line_format "x" |= "nowhere-at-all-0815"', 0],
    ['nothing for what must not be there', '{env="test"} != "nowhere-at-all-0815"', 0],
  ])('%s', async (_, query, least) => {
    const statistics = await askBoth(query);
    expect(statistics!.plan.pages).toBe(4);
    const { pagesByText, pagesByValues } = statistics!.plan;
    expect(pagesByText + pagesByValues).toBeGreaterThanOrEqual(least);
    expect(query.includes('|=') || query.includes('|~') || pagesByText === 0).toBe(true);
    if (least === 0) expect(pagesByText + pagesByValues).toBe(0);
    if (least === 4) expect(statistics!.pagesRead).toBe(0);
  });
});

describe('over a distant store', () => {
  /** Reads of a query, and the place of the text index of the only chunk. */
  async function readsOf(text: string, sourceOf: (store: ObjectStore) => ChunkSource) {
    const reads: { start: number; end: number; before: number }[] = [];
    let ended = 0;
    const store: ObjectStore = {
      ...distant.store,
      async getRange(key, start, end) {
        reads.push({ start, end, before: ended });
        const bytes = await distant.store.getRange(key, start, end);
        await nextTurn();
        ended++;
        return bytes;
      },
    };
    const { statistics } = await distant
      .engineOf(sourceOf(store))
      .range(rangeQuery(text), requester({ limits: requester().limits }));
    const [{ records }] = await distant.catalog.daysForQuery(
      't',
      DAY_START_NS,
      DAY_START_NS + 1_000_000_000n,
    );
    return { reads, statistics, textIndex: records[0].textIndex! };
  }

  test('many footers: those of chunks without the text are not read', async () => {
    const absent = await readsOf('{env="test"} |= "nowhere-to-be-found"', store => new IndexesFirst(store));
    const { offset, storedBytes, pages } = absent.textIndex;
    expect(absent.reads.length).toBeGreaterThan(0);
    for (const { start, end } of absent.reads) {
      expect(start).toBeGreaterThanOrEqual(offset);
      expect(end).toBeLessThanOrEqual(offset + storedBytes);
    }
    expect(absent.statistics.plan).toMatchObject({ chunks: 1, pages, pagesByText: pages });
    const found = await readsOf('{env="test"} |= "user-web-5"', store => new IndexesFirst(store));
    expect(found.reads.some(({ start }) => start < offset)).toBe(true);
    expect(found.statistics.plan.chunks).toBe(1);
  });

  test('few footers: text indexes are read next to them', async () => {
    const { reads, textIndex } = await readsOf(
      '{env="test"} |= "nowhere-to-be-found"',
      store => new IndexesAhead(store),
    );
    expect(reads.every(({ before }) => before === 0)).toBe(true);
    expect(reads.some(({ start }) => start === textIndex.offset)).toBe(true);
  });
});
