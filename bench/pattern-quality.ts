/**
 * `node bench/pattern-quality.ts [--show]`: compares patterns of the corpora in test/patterns with the
 * reference's algorithm.
 */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { CORPORA, type Corpus, type CorpusLine, makeCorpus } from '../test/patterns/corpora.ts';
import { linesOf, mine, qualityOf, referenceQuality } from '../test/patterns/quality.ts';
import { formatTable } from './table.ts';

const LINES = 20_000;
/** Corpus of the driver: 120 streams of services, an ingress and batch jobs with stack traces. */
const DRIVER_CORPUS = resolve(import.meta.dirname, '../../shared/bench/corpus.mjs');
const DRIVER_MB = 24;
const percent = (share: number) => `${(100 * share).toFixed(1)}%`;

interface DriverBatch {
  readonly streams: readonly {
    readonly stream: { readonly kind: string; readonly labelText: string };
    readonly entries: readonly (number | string)[];
  }[];
}

async function driverLines(): Promise<CorpusLine[]> {
  const { Corpus: DriverCorpus, normalizeCorpusOptions } = await import(DRIVER_CORPUS);
  const corpus = new DriverCorpus(normalizeCorpusOptions({ mb: DRIVER_MB, start: '2026-06-01' }));
  const found: CorpusLine[] = [];
  for (const { streams } of corpus.batches() as Iterable<DriverBatch>) {
    for (const { stream, entries } of streams) {
      for (let i = 2; i < entries.length; i += 3) {
        const line = entries[i] as string;
        const level = /level"?[=:]"?(\w+)|\b(ERROR|INFO)\b/.exec(line);
        found.push({
          line,
          event: stream.kind,
          level: (level?.[1] ?? level?.[2] ?? 'unknown').toLowerCase(),
          stream: stream.labelText,
        });
      }
    }
  }
  return found;
}

const corpora: [name: string, lines: Corpus][] = Object.keys(CORPORA).map(name => [
  name,
  makeCorpus(name, LINES),
]);
if (existsSync(DRIVER_CORPUS)) corpora.push(["the driver's", await driverLines()]);

const rows = corpora.map(([name, lines]) => {
  const found = mine(lines, { builders: 4 });
  if (process.argv.includes('--show')) {
    for (const one of found) console.log(`${name}\t${one.level}\t${linesOf(one)}\t${one.pattern}`);
  }
  const [own, reference] = [qualityOf(lines, found), referenceQuality(lines)];
  return [
    name,
    ...[own, reference].flatMap(one => [one.patterns, percent(one.coverage), percent(one.purity)]),
  ];
});
console.log(
  formatTable(['corpus', 'patterns', 'coverage', 'purity', 'reference', 'coverage', 'purity'], rows),
);
