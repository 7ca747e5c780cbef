/**
 * Detected fields of the newest lines of the project's own corpus, merged by compaction and read without a
 * cache. `columns` reads columns if they suffice, `lines` does not. Access logs are complete, and so are JSON
 * and logfmt without their IDs. With IDs they are not, so that both ways read lines.
 */

import { DEFAULT_LIMITS } from '../../shared/base/model/limits.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import { SYSTEM_CLOCK, SYSTEM_IDS } from '../../shared/base/runtime/system-clock.ts';
import { parseQuery } from '../../shared/language/logql/parse.ts';
import { detectFields } from '../../shared/read/insight/detected/detect-fields.ts';
import { ChunkSource } from '../../shared/read/query/chunk-source.ts';
import { QueryEngine } from '../../shared/read/query/engine.ts';
import { EVERY_FIELD } from '../../shared/read/query/every-field-scan.ts';
import { Catalog } from '../../shared/storage/catalog/catalog.ts';
import { storeChunk } from '../../shared/storage/catalog/chunk-object.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import { COMPACTION_COMPRESSION } from '../../shared/storage/codec/compression.ts';
import { chunkIndexers } from '../../shared/upkeep/indexing/index-chunk.ts';
import { rowsOf } from '../../test/support/rows.ts';
import { CORPUS_NS, CORPUS_START_NS, generateBatches } from '../corpus.ts';
import type { StageCase } from './index.ts';

const CORPUS_MB = 24;
const DAY = Number(CORPUS_START_NS / NS_PER_DAY);
const IDS = / trace=\S+|,"trace_id":"[^"]*"|,"user":\{[^}]*\}/g;
const { signal } = new AbortController();

async function makeEngine(change: (line: string) => string): Promise<QueryEngine> {
  const entries = [...generateBatches(CORPUS_MB)].flatMap(({ streams }) =>
    streams.flatMap(({ labels, entries: ofStream }) =>
      ofStream.map(({ ns, line }) => ({
        stream: labels,
        time: Number(ns % NS_PER_DAY),
        line: change(line),
        metadata: {},
      })),
    ),
  );
  const store = memoryObjectStore();
  const catalog = new Catalog({
    table: memoryTable({ clock: SYSTEM_CLOCK }),
    clock: SYSTEM_CLOCK,
    ids: SYSTEM_IDS,
  });
  const head = { id: SYSTEM_IDS.randomHex(16), tenant: 't', day: DAY, level: 3, createdMs: 1, inputs: [] };
  const written = await writeChunk(head, rowsOf(entries), COMPACTION_COMPRESSION, chunkIndexers()());
  await catalog.addChunks([await storeChunk(store, written, 0)]);
  return new QueryEngine({ catalog, source: new ChunkSource(store), clock: SYSTEM_CLOCK });
}

const engines = new Map<string, Promise<QueryEngine>>();
function engineOf(corpus: keyof typeof CORPORA): Promise<QueryEngine> {
  const known = engines.get(corpus) ?? makeEngine(CORPORA[corpus]);
  engines.set(corpus, known);
  return known;
}

const CORPORA = {
  'as it is': (line: string) => line,
  'without ids': (line: string) => line.replaceAll(IDS, ''),
};

async function detect(
  corpus: keyof typeof CORPORA,
  app: string,
  limit: number,
  field: string | undefined,
): Promise<void> {
  const engine = await engineOf(corpus);
  const text = `{app=~"${app}-.*"}`;
  const { result } = await engine.range(
    {
      text,
      expr: parseQuery(text),
      startNs: CORPUS_START_NS,
      endNs: CORPUS_START_NS + CORPUS_NS,
      limit,
      backward: true,
      stepNs: 1_000_000_000n,
      intervalNs: 0n,
      categorize: true,
      field,
    },
    { tenants: ['t'], tenantsKey: 't', limits: DEFAULT_LIMITS, signal, tags: '', skipsCache: true },
  );
  if (result.kind !== 'streams') throw new Error('not a log query');
  await detectFields(result.streams, { limit: 1000, signal });
}

const ASKED = [
  ['access', 'as it is'],
  ['json', 'without ids'],
  ['logfmt', 'without ids'],
  ['json', 'as it is'],
] as const;

export const cases: StageCase[] = ASKED.flatMap(([app, corpus]) =>
  [100, 5000].flatMap(lines => [
    {
      name: `${app} ${corpus}, ${lines} lines: lines`,
      lines,
      run: () => detect(corpus, app, lines, undefined),
    },
    {
      name: `${app} ${corpus}, ${lines} lines: columns`,
      lines,
      run: () => detect(corpus, app, lines, EVERY_FIELD),
    },
  ]),
);
