/** Counts of a page are those of counting its rows one by one, for any rows and any patterns of its clusters. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { ByteWriter } from '../../shared/storage/codec/byte-io.ts';
import { COARSE_BUCKET_S, FINE_BUCKET_S } from '../../shared/upkeep/pattern-mining/bounds.ts';
import { LEVEL_BITS } from '../../shared/upkeep/pattern-mining/levels.ts';
import { CountMemory, uncountedRows, writeCounts } from '../../shared/upkeep/pattern-mining/page-counts.ts';
import { readCounts } from '../../shared/upkeep/pattern-mining/section-codec.ts';

/** Number of the first cluster of the miner, and clusters after it. */
const DONE = 40_000_000;
const CLUSTERS = 9;
const NO_TEMPLATE = 4;
const NO_CLUSTER = -1;

interface Row {
  readonly cluster: number;
  readonly level: number;
  /** Seconds after the row before. */
  readonly step: number;
}

const row = fc.record({
  cluster: fc.oneof(
    { weight: 9, arbitrary: fc.nat(CLUSTERS - 1) },
    { weight: 1, arbitrary: fc.constant(-1) },
  ),
  level: fc.nat(7),
  step: fc.oneof({ weight: 5, arbitrary: fc.nat(7) }, { weight: 1, arbitrary: fc.nat(900) }),
});
const page = fc.array(fc.array(row, { minLength: 1, maxLength: 40 }), { maxLength: 5 });
/** Template of each cluster. */
const templates = fc.array(fc.nat(NO_TEMPLATE), { minLength: CLUSTERS, maxLength: CLUSTERS });

/** Counts by run, template, level and start of the bucket. */
type Counts = Map<string, number>;

function add(counts: Counts, key: readonly number[], lines: number): void {
  counts.set(key.join(), (counts.get(key.join()) ?? 0) + lines);
}

function columnsOf(runs: readonly (readonly Row[])[]) {
  const rows = runs.flat();
  const times: number[] = [];
  const spans: { firstRow: number; rows: number }[] = [];
  for (const own of runs) {
    spans.push({ firstRow: times.length, rows: own.length });
    let time = 0;
    for (const { step } of own) times.push((time += step) * 1e9);
  }
  return {
    runs: spans,
    times: Float64Array.from(times),
    base: 3_605e9,
    levels: Uint8Array.from(rows, ({ level }) => level),
    clusterOf: Int32Array.from(rows, ({ cluster }) => (cluster < 0 ? NO_CLUSTER : DONE + cluster)),
  };
}

test('for any rows', () => {
  const memory = new CountMemory();
  fc.assert(
    fc.property(page, templates, (runs, templateOf) => {
      const columns = columnsOf(runs);
      const { clusterOf, times, base, levels } = columns;
      const wanted: Counts = new Map();
      for (const [run, { firstRow, rows }] of columns.runs.entries()) {
        const isLong = times[firstRow + rows - 1] - times[firstRow] >= 3_600e9;
        const width = isLong ? COARSE_BUCKET_S : FINE_BUCKET_S;
        for (let i = firstRow; i < firstRow + rows; i++) {
          const template = clusterOf[i] === NO_CLUSTER ? NO_TEMPLATE : templateOf[clusterOf[i] - DONE];
          const second = Math.floor((base + times[i]) / 1e9 / width) * width;
          if (template !== NO_TEMPLATE) add(wanted, [run, template, levels[i], second], 1);
        }
      }
      const writer = new ByteWriter();
      const keys = [0];
      const numbers = new Uint32Array(levels.length);
      for (const [i, cluster] of clusterOf.entries()) {
        if (cluster === NO_CLUSTER) continue;
        const key = cluster * 2 ** LEVEL_BITS + levels[i];
        numbers[i] = keys.includes(key, 1) ? keys.indexOf(key, 1) : keys.push(key) - 1;
      }
      const numbered = uncountedRows(columns, { numbers, keys });
      const keyOf = (key: number) => {
        const template = templateOf[Math.floor(key / 2 ** LEVEL_BITS) - DONE];
        return template === NO_TEMPLATE ? -1 : template * 2 ** LEVEL_BITS + (key % 2 ** LEVEL_BITS);
      };
      writeCounts(writer, numbered, keyOf, memory);
      const part = writer.finish();
      const found: Counts = new Map();
      for (let run = 0; run < runs.length; run++) {
        readCounts(
          part,
          one => one === run,
          (template, level, second, lines) => add(found, [run, template, level, second], lines),
        );
      }
      expect(found).toEqual(wanted);
    }),
  );
});
