/** Copies one part of a migration: the entries of a selector within one hour, counted in both stores. */
import { CommandError } from '../command-error.ts';
import { type EncodedBatch, pushLines } from '../push-lines.ts';
import { RESTART_RETRIES } from '../retries.ts';
import type { StoreFlags } from '../store-client.ts';
import { nanosecondText } from '../time-text.ts';
import { type CountRequest, entryPages, fetchCounts, type MigratedEntry } from './log-source.ts';

interface PartToCopy extends CountRequest {
  readonly source: StoreFlags;
  readonly target: StoreFlags;
  readonly batch: number;
}

interface CopiedPart {
  /** Number of entries in the source. */
  readonly entries: number;
  /** Streams that have fewer entries in the target than in the source. */
  readonly missing: readonly string[];
}

/** Batch size: small enough to retry, and large enough that its bytes dominate its cost. */
const BATCH_BYTES = 1_000_000;

/** Throws CommandError if a store refuses a request. */
export async function copyPart(part: PartToCopy, onRetry: (problem: string) => void): Promise<CopiedPart> {
  const { source, target, selector, window, batch } = part;
  const wanted = await fetchCounts(source, part);
  if (wanted.size === 0) return { entries: 0, missing: [] };
  const pages = entryPages(source, { query: selector, window, batch });
  try {
    await pushLines(NO_INPUT, {
      store: target,
      batches: () => batchesOfEntries(pages),
      retries: RESTART_RETRIES,
      onStored: () => {},
      onRetry,
    });
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(`${selector} from ${nanosecondText(window.startNs)}: ${error.message}`, {
      cause: error,
    });
  }
  const found = await fetchCounts(target, part);
  const entries = [...wanted.values()].reduce((total, count) => total + count, 0);
  const missing = [...wanted].filter(([key, count]) => (found.get(key) ?? 0) < count);
  return {
    entries,
    missing: missing.map(([key, count]) => {
      const values = JSON.parse(key) as string[];
      const labels = part.names
        .map((name, i) => [name, values[i]] as const)
        .filter(([, value]) => value !== '');
      const stream = labels.map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(', ');
      return `{${stream}} from ${nanosecondText(window.startNs)}: ${found.get(key) ?? 0} of ${count} entries`;
    }),
  };
}

/** Input placeholder: the batches have their own entries. */
const NO_INPUT = { destroy: () => {}, async *[Symbol.asyncIterator]() {} };

async function* batchesOfEntries(
  pages: AsyncIterable<readonly MigratedEntry[]>,
): AsyncGenerator<EncodedBatch> {
  const streams = new Map<string, string>();
  let bytes = 0;
  let lines = 0;
  let sentLines = 0;
  const take = (): EncodedBatch => {
    const json = [...streams].map(([labels, values]) => `{"stream":${labels},"values":[${values}]}`);
    const batch = { lines, firstLine: sentLines + 1, readBytes: bytes, endBytes: 0 };
    streams.clear();
    sentLines += lines;
    bytes = 0;
    lines = 0;
    return { ...batch, body: `{"streams":[${json.join(',')}]}` };
  };
  for await (const page of pages) {
    for (const { timeNs, labels, line, metadata } of page) {
      const stream = JSON.stringify(labels);
      const value = JSON.stringify([`${timeNs}`, line, metadata]);
      const before = streams.get(stream);
      streams.set(stream, before === undefined ? value : `${before},${value}`);
      bytes += value.length;
      lines++;
      if (bytes >= BATCH_BYTES) yield take();
    }
  }
  if (lines > 0) yield take();
}
