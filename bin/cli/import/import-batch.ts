/** Groups entries of an import into push batches, each with several streams and structured metadata. */
import { nextOf, type PushBatchOptions, valueWithin } from '../push-batch.ts';
import type { EncodedBatch } from '../push-lines.ts';
import type { FormatName } from './formats.ts';
import type { ImportEntry, ImportPlan } from './import-plan.ts';
import { ImportReader, type InputContext } from './import-reader.ts';

/** JSON overhead of an entry: brackets, quotes, commas and 19 digits. */
const ENTRY_OVERHEAD_BYTES = 26;

export interface ImportCounts {
  readonly entries: number;
  readonly streams: number;
  readonly unrecognized: number;
  readonly withoutTime: number;
  readonly skipped: number;
}

interface ImportInput {
  readonly format: FormatName;
  readonly plan: ImportPlan;
  readonly context: InputContext;
}

/** Yields batches and returns the counts. */
export async function* importBatches(
  input: AsyncIterable<Buffer>,
  { format, plan, context }: ImportInput,
  { batchBytes, maxWaitMs, leavesOpenLine }: Omit<PushBatchOptions, 'nowNs'>,
): AsyncGenerator<EncodedBatch, ImportCounts> {
  const streams = new Map<Readonly<Record<string, string>>, string>();
  const full: EncodedBatch[] = [];
  let entries = 0;
  let bytes = 0;
  let takenLines = 0;
  let readBytes = 0;
  const reader = new ImportReader(format, plan, context, entry => {
    const before = streams.get(entry.labels);
    const value = entryJson(entry);
    streams.set(entry.labels, before === undefined ? value : `${before},${value}`);
    entries++;
    bytes += entry.line.length + ENTRY_OVERHEAD_BYTES;
    if (bytes >= batchBytes) take();
  });
  const take = () => {
    const lines = reader.doneLines - takenLines;
    const json = [...streams].map(
      ([labels, values]) => `{"stream":${JSON.stringify(labels)},"values":[${values}]}`,
    );
    full.push({
      body: `{"streams":[${json.join(',')}]}`,
      lines,
      firstLine: takenLines + 1,
      readBytes,
      endBytes: reader.endBytes,
    });
    takenLines = reader.doneLines;
    streams.clear();
    bytes = 0;
  };

  const pieces = input[Symbol.asyncIterator]();
  let next = nextOf(pieces);
  for (;;) {
    const waits = bytes > 0 || reader.holdsLines;
    const got = waits ? await valueWithin(next, maxWaitMs) : await next;
    if (got === undefined) {
      reader.flush();
      if (bytes > 0) take();
    } else if (got.done) break;
    else {
      readBytes += got.value.length;
      reader.feed(got.value);
      next = nextOf(pieces);
    }
    yield* full.splice(0);
  }
  reader.finish({ leavesOpenLine });
  if (bytes > 0) take();
  yield* full;
  const { unrecognized, withoutTime, skipped } = reader;
  return { entries, streams: reader.streams, unrecognized, withoutTime, skipped };
}

function entryJson({ timeNs, line, metadata }: ImportEntry): string {
  for (const _ in metadata) return `["${timeNs}",${JSON.stringify(line)},${JSON.stringify(metadata)}]`;
  return `["${timeNs}",${JSON.stringify(line)}]`;
}
