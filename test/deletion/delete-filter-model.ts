/** Model for queries: which entries of chunks are visible under delete requests and retention, entry by entry. */

import type { PageRows } from '../../shared/base/model/page.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { virtualClock } from '../../shared/base/ports/memory/clock.ts';
import { compileLogPipeline } from '../../shared/execution/pipeline/pipeline.ts';
import { compileMatchers } from '../../shared/language/logql/matcher.ts';
import { parseLogQuery } from '../../shared/language/logql/parse.ts';
import type { ChunkRecord } from '../../shared/storage/catalog/chunk-record.ts';
import { coversChunk, type DeleteRequest, isHiding } from '../../shared/storage/catalog/delete-request.ts';
import { type DatedEntry, identityOf } from '../support/pushes.ts';
import { streamOf } from '../support/rows.ts';

export const nsOf = ({ day, time }: DatedEntry): bigint => BigInt(day) * NS_PER_DAY + BigInt(time);

/** A chunk of the catalog, and the entries that were pushed into it or into its merge inputs. */
export interface ModelChunk {
  readonly record: ChunkRecord;
  readonly entries: readonly DatedEntry[];
}

const clock = virtualClock();
const compiled = new Map<string, (entry: DatedEntry) => boolean>();

/** Whether the query lets the entry pass: its pipeline, on a page of this one row. */
function accepts(query: string): (entry: DatedEntry) => boolean {
  const known = compiled.get(query);
  if (known !== undefined) return known;
  const expr = parseLogQuery(query);
  const fits = compileMatchers(expr.selector);
  const pipeline = compileLogPipeline(expr, { clock });
  const answers = new Map<string, boolean>();
  const test = (entry: DatedEntry) => {
    if (!fits(streamOf(entry.stream).labels)) return false;
    const id = identityOf(entry);
    let answer = answers.get(id);
    if (answer === undefined) {
      const sink = { wants: () => true, emit: () => undefined };
      answer = pipeline.run(pageOfOne(entry), new Uint32Array([0]), 1, sink) > 0;
      answers.set(id, answer);
    }
    return answer;
  };
  compiled.set(query, test);
  return test;
}

function pageOfOne(entry: DatedEntry): PageRows {
  const lines = Buffer.from(entry.line);
  return {
    rows: 1,
    baseNs: nsOf(entry),
    times: new Float64Array(1),
    lines,
    lineOffsets: new Uint32Array([0, lines.length]),
    runs: [{ stream: streamOf(entry.stream), firstRow: 0, rows: 1 }],
    metadata: Object.entries(entry.metadata).map(([name, value]) => {
      return { name, ids: new Uint32Array([1]), count: 1, valueAt: () => value };
    }),
  };
}

function takes(request: DeleteRequest, entry: DatedEntry): boolean {
  const ns = nsOf(entry);
  return request.startNs <= ns && ns <= request.endNs && accepts(request.query)(entry);
}

/** Entries with a copy in a chunk in which no request covers it, each once. */
export function visible(
  chunks: readonly ModelChunk[],
  requests: readonly DeleteRequest[],
  nowMs: number,
): DatedEntry[] {
  const masking = requests.filter(request => isHiding(request, nowMs));
  const seen = new Map<string, DatedEntry>();
  for (const { record, entries } of chunks) {
    const covering = masking.filter(request => coversChunk(request, record));
    for (const entry of entries) {
      if (!covering.some(request => takes(request, entry))) seen.set(identityOf(entry), entry);
    }
  }
  return [...seen.values()];
}
