/** Lines of the benchmark corpus by kind, in the order of merged pages: by stream, then by time. */
import { pathToFileURL } from 'node:url';
import { generateBatches } from '../../bench/corpus.ts';
import type { Sample } from './samples.ts';

/** Amount of corpus: a few pages of each of many streams. */
const CORPUS_MB = 64;

interface DriverStream {
  readonly id: number;
  readonly kind: string;
}
interface DriverCorpus {
  batches(): Iterable<{ streams: { stream: DriverStream; entries: (number | string)[] }[] }>;
}
interface CorpusModule {
  readonly Corpus: new (options: unknown) => DriverCorpus;
  normalizeCorpusOptions(options: Record<string, unknown>): unknown;
}

export async function corpusSamples(file: string | undefined): Promise<Sample[]> {
  const kinds = new Map<string, Map<string | number, Buffer[]>>();
  const add = (kind: string, stream: string | number, line: string) => {
    let streams = kinds.get(kind);
    if (streams === undefined) kinds.set(kind, (streams = new Map()));
    let lines = streams.get(stream);
    if (lines === undefined) streams.set(stream, (lines = []));
    lines.push(Buffer.from(line));
  };
  if (file === undefined) {
    for (const { streams } of generateBatches(CORPUS_MB)) {
      for (const { labels, entries } of streams) {
        for (const { line } of entries) add(labels.app.split('-')[0], labels.app, line);
      }
    }
  } else {
    const { Corpus, normalizeCorpusOptions } = (await import(pathToFileURL(file).href)) as CorpusModule;
    const corpus = new Corpus(normalizeCorpusOptions({ mb: CORPUS_MB, seed: 1 }));
    for (const { streams } of corpus.batches()) {
      for (const { stream, entries } of streams) {
        for (let i = 2; i < entries.length; i += 3) add(stream.kind, stream.id, String(entries[i]));
      }
    }
  }
  return [...kinds].map(([kind, streams]) => ({
    name: `corpus: ${kind}`,
    sort: 'benchmark' as const,
    lines: [...streams.values()].flat(),
  }));
}
