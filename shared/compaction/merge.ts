/** INTERIM (lead, until the merge engine lands): merges in memory. Overwrite this file. */
import { PUSH_COMPRESSION, type Compression } from '../chunk/compression.ts';
import type { Footer } from '../chunk/format.ts';
import { decodePage } from '../chunk/reader.ts';
import type { ChunkRows } from '../chunk/rows.ts';
import { type WrittenChunk, writeChunk } from '../chunk/writer.ts';
import { compareUtf8 } from '../model/bytes.ts';
import type { Stream } from '../model/page.ts';

export const COMPACTION_COMPRESSION = PUSH_COMPRESSION;
export interface MergeInput {
  readonly footer: Footer;
  readonly storedBytes: number;
  read(start: number, end: number): Promise<Buffer>;
}
export interface MergeOptions {
  readonly tenant: string;
  readonly day: number;
  readonly level: number;
  newId(): string;
  readonly createdMs: number;
  readonly compression: Compression;
  readonly maxOutputBytes: number;
  readonly signal?: AbortSignal;
  pause?(): Promise<void>;
}
export interface MergeSummary {
  readonly rowsIn: number;
  readonly rowsOut: number;
  readonly duplicates: number;
}

export async function mergeChunks(
  inputs: readonly MergeInput[],
  options: MergeOptions,
  emit: (chunk: WrittenChunk) => Promise<void>,
): Promise<MergeSummary> {
  const entries: { stream: Stream; time: number; line: Buffer; pairs: [string, string][] }[] = [];
  for (const { footer, read } of inputs.slice().sort((a, b) => (a.footer.id < b.footer.id ? -1 : 1))) {
    for (const page of footer.pages) {
      await options.pause?.();
      const rows = decodePage(
        footer,
        page,
        await read(page.offset, page.offset + page.storedBytes),
        { lines: 'bytes', metadata: 'all' },
        footer.id,
      );
      const lines = Buffer.from(rows.lines);
      const times = rows.times;
      const offsets = rows.lineOffsets;
      for (const run of rows.runs) {
        for (let r = run.firstRow; r < run.firstRow + run.rows; r++) {
          const pairs = rows.metadata
            .filter(c => c.ids[r] > 0)
            .map((c): [string, string] => [c.name, c.valueAt(c.ids[r] - 1)])
            .sort((a, b) => (a[0] < b[0] ? -1 : 1));
          entries.push({
            stream: run.stream,
            time: page.base + times[r],
            line: lines.subarray(offsets[r], offsets[r + 1]),
            pairs,
          });
        }
      }
    }
  }
  const order = entries.map((_, i) => i);
  order.sort(
    (a, b) =>
      compareUtf8(entries[a].stream.text, entries[b].stream.text) ||
      entries[a].time - entries[b].time ||
      a - b,
  );
  const seen = new Set<string>();
  const kept = order.filter(i => {
    const { stream, time, line, pairs } = entries[i];
    const key = JSON.stringify([stream.text, time, line.toString('latin1'), pairs]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
  const streams: Stream[] = [];
  const names: string[] = [];
  const values: Buffer[] = [];
  const pairName: number[] = [];
  const pairValue: number[] = [];
  const firstPair = [0];
  const parts: Buffer[] = [];
  let at = 0;
  const rows: ChunkRows = {
    streams,
    rows: kept.length,
    streamOf: new Uint32Array(kept.length),
    times: new Float64Array(kept.length),
    sources: [Buffer.alloc(0)],
    sourceOf: new Uint16Array(kept.length),
    lineStart: new Uint32Array(kept.length),
    lineEnd: new Uint32Array(kept.length),
    names,
    values,
    firstPair: new Uint32Array(0),
    pairName: new Uint32Array(0),
    pairValue: new Uint32Array(0),
  };
  kept.forEach((i, row) => {
    const { stream, time, line, pairs } = entries[i];
    if (streams.at(-1)?.text !== stream.text) streams.push(stream);
    rows.streamOf[row] = streams.length - 1;
    rows.times[row] = time;
    parts.push(line);
    rows.lineStart[row] = at;
    at += line.length;
    rows.lineEnd[row] = at;
    for (const [name, value] of pairs) {
      let n = names.indexOf(name);
      if (n < 0) n = names.push(name) - 1;
      pairName.push(n);
      pairValue.push(values.push(Buffer.from(value)) - 1);
    }
    firstPair.push(pairName.length);
  });
  const all: ChunkRows = {
    ...rows,
    sources: [Buffer.concat(parts)],
    firstPair: Uint32Array.from(firstPair),
    pairName: Uint32Array.from(pairName),
    pairValue: Uint32Array.from(pairValue),
  };
  const { tenant, day, level, createdMs } = options;
  const head = { id: options.newId(), tenant, day, level, createdMs, inputs: inputs.map(i => i.footer.id) };
  await emit(await writeChunk(head, all, options.compression));
  return { rowsIn: entries.length, rowsOut: kept.length, duplicates: entries.length - kept.length };
}
