/**
 * Bytes per second of compaction: lines are read, merged, written, and read back to compare. The inputs are
 * in-memory chunks of the project's corpus. Each has a detected level, and its streams continue from chunk to
 * chunk.
 */

import { compareUtf8 } from '../../shared/base/model/bytes.ts';
import { formatLabels, labelsOf } from '../../shared/base/model/labels.ts';
import { NS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { memoryObjectStore } from '../../shared/base/ports/memory/object-store.ts';
import { writerOf } from '../../shared/base/ports/object-writer.ts';
import type { ChunkIndexer } from '../../shared/storage/chunk/chunk-indexer.ts';
import { SectionKind } from '../../shared/storage/chunk/format.ts';
import { footerOf } from '../../shared/storage/chunk/reader.ts';
import type { ChunkRows } from '../../shared/storage/chunk/rows.ts';
import { writeChunk } from '../../shared/storage/chunk/writer.ts';
import {
  COMPACTION_COMPRESSION,
  loadBlock,
  PUSH_COMPRESSION,
} from '../../shared/storage/codec/compression.ts';
import { type MergeInput, mergeChunks } from '../../shared/upkeep/compaction/merge.ts';
import { chunkIndexers } from '../../shared/upkeep/indexing/index-chunk.ts';
import { readStoredExtras, type StoredExtras } from '../../shared/upkeep/indexing/stored-extras.ts';
import { withPatterns } from '../../shared/upkeep/pattern-mining/pattern-indexer.ts';
import { decodeSection, type PatternSection } from '../../shared/upkeep/pattern-mining/section-codec.ts';
import { type Batch, CORPUS_START_NS, generateBatches } from '../corpus.ts';
import type { StageCase } from './index.ts';

const LARGE_INPUTS = 32;
/** Batches of 0.5 MB each. */
const BATCHES_PER_LARGE_INPUT = [2, 4, 6, 8];
const SMALL_INPUTS = 10_000;
const SMALL_INPUT_BYTES = 1000;
/** Number of final chunks of 5 minutes that are merged for the hour. */
const FINAL_INPUTS = 4;
/** Number of chunks that a swap removes. */
const GROUP = 80;

const DAY = Number(CORPUS_START_NS / NS_PER_DAY);
const TENANT = 'bench';

interface MergeLine {
  readonly stream: string;
  readonly time: number;
  readonly line: string;
}

interface Inputs {
  readonly chunks: readonly MergeInput[];
  /** Raw bytes of the lines. */
  readonly bytes: number;
  readonly lines: number;
}

interface CopyableInputs extends Inputs {
  readonly indexer: () => ChunkIndexer;
}

const labelsByText = new Map<string, ReturnType<typeof labelsOf>>();

function linesOf(batches: readonly Batch[]): MergeLine[] {
  return batches.flatMap(({ streams }) =>
    streams.flatMap(({ labels, entries }) => {
      const sorted = labelsOf(labels);
      const stream = formatLabels(sorted);
      labelsByText.set(stream, sorted);
      return entries.map(({ ns, line }) => ({ stream, time: Number(ns % NS_PER_DAY), line }));
    }),
  );
}

function rowsOf(lines: readonly MergeLine[]): ChunkRows {
  const texts = [...new Set(lines.map(({ stream }) => stream))].sort(compareUtf8);
  const indexOf = new Map(texts.map((text, i) => [text, i]));
  const sorted = lines.slice().sort((a, b) => compareUtf8(a.stream, b.stream) || a.time - b.time);
  const ends = new Uint32Array(sorted.length);
  sorted.forEach(({ line }, i) => {
    ends[i] = (i === 0 ? 0 : ends[i - 1]) + Buffer.byteLength(line);
  });
  return {
    streams: texts.map(text => ({ labels: labelsByText.get(text)!, text })),
    rows: sorted.length,
    streamOf: Uint32Array.from(sorted, ({ stream }) => indexOf.get(stream)!),
    times: Float64Array.from(sorted, ({ time }) => time),
    sources: [Buffer.from(sorted.map(({ line }) => line).join(''))],
    sourceOf: new Uint16Array(sorted.length),
    lineStart: Uint32Array.from(ends, (_, i) => (i === 0 ? 0 : ends[i - 1])),
    lineEnd: ends,
    names: ['detected_level'],
    values: ['info', 'error'].map(text => Buffer.from(text)),
    firstPair: Uint32Array.from({ length: sorted.length + 1 }, (_, i) => i),
    pairName: new Uint32Array(sorted.length),
    pairValue: Uint32Array.from(sorted, ({ line }) => (line.includes('error') ? 1 : 0)),
  };
}

async function inputsOf(lists: readonly MergeLine[][]): Promise<Inputs> {
  const chunks: MergeInput[] = [];
  for (const [i, lines] of lists.entries()) {
    const id = i.toString(16).padStart(32, '0');
    const head = { id, tenant: TENANT, day: DAY, level: 0, createdMs: 0, inputs: [] };
    const { parts, bytes } = await writeChunk(head, rowsOf(lines), PUSH_COMPRESSION);
    const object = Buffer.concat(parts, bytes);
    chunks.push({
      footer: footerOf(object, id),
      storedBytes: bytes,
      read: async (start, end) => object.subarray(start, end),
    });
  }
  const bytes = chunks.reduce((sum, { footer }) => sum + footer.lineBytes, 0);
  return { chunks, bytes, lines: chunks.reduce((sum, { footer }) => sum + footer.rows, 0) };
}

function largeInputs(): Promise<Inputs> {
  const sizes = Array.from({ length: LARGE_INPUTS }, (_, i) => BATCHES_PER_LARGE_INPUT[i % 4]);
  const batches = [...generateBatches(sizes.reduce((sum, size) => sum + size) / 2)];
  let from = 0;
  return inputsOf(sizes.map(size => linesOf(batches.slice(from, (from += size)))));
}

function smallInputs(): Promise<Inputs> {
  const lines = linesOf([...generateBatches((SMALL_INPUTS * SMALL_INPUT_BYTES) / 1e6)]);
  const perInput = Math.ceil(lines.length / SMALL_INPUTS);
  const lists: MergeLine[][] = [];
  for (let i = 0; i < lines.length; i += perInput) lists.push(lines.slice(i, i + perInput));
  return inputsOf(lists);
}

async function mergeGroups(
  { chunks }: Inputs,
  perGroup: number,
  indexer?: () => ChunkIndexer,
): Promise<Buffer[]> {
  const made: Buffer[] = [];
  const options = {
    tenant: TENANT,
    day: DAY,
    level: 1,
    newId: () => made.length.toString(16).padStart(32, 'f'),
    newWriter: () => writerOf(memoryObjectStore()),
    createdMs: 0,
    compression: COMPACTION_COMPRESSION,
    indexer,
  };
  for (let i = 0; i < chunks.length; i += perGroup) {
    await mergeChunks(chunks.slice(i, i + perGroup), options, async ({ bytes }, writer) => {
      made.push(await writer.read(0, bytes));
    });
  }
  return made;
}

/** Final chunks, as the merges of 5 minutes leave them for the hour. */
async function finalInputs({ chunks, bytes, lines }: Inputs): Promise<CopyableInputs> {
  const objects = await mergeGroups({ chunks, bytes, lines }, chunks.length / FINAL_INPUTS, () =>
    withPatterns(indexers()),
  );
  const extras: StoredExtras[] = [];
  const patterns: PatternSection[] = [];
  const inputs: MergeInput[] = [];
  for (const [copySource, object] of objects.entries()) {
    const footer = footerOf(object, 'a final chunk');
    const load = async (kind: number) => {
      const { block } = footer.sections.find(section => section.kind === kind)!;
      return loadBlock(object.subarray(block.offset, block.offset + block.storedBytes), block, 'a section');
    };
    extras.push((await readStoredExtras(load, footer.pages.length))!);
    patterns.push(decodeSection((await load(SectionKind.patterns))!, 'patterns')!);
    const read = async (start: number, end: number) => Buffer.from(object.subarray(start, end));
    inputs.push({ footer, storedBytes: object.length, copySource, read });
  }
  return { chunks: inputs, bytes, lines, indexer: () => withPatterns(indexers(extras), patterns) };
}

const indexers = chunkIndexers();
const large = await largeInputs();
const small = await smallInputs();
const finals = await finalInputs(large);

export const cases: StageCase[] = [
  {
    name: `${large.chunks.length} inputs of 1 to 4 MB`,
    bytes: large.bytes,
    lines: large.lines,
    run: () => mergeGroups(large, large.chunks.length),
  },
  {
    name: `${large.chunks.length} inputs of 1 to 4 MB, indexed`,
    bytes: large.bytes,
    lines: large.lines,
    run: () => mergeGroups(large, large.chunks.length, indexers),
  },
  {
    name: `${large.chunks.length} inputs of 1 to 4 MB, indexed and with patterns`,
    bytes: large.bytes,
    lines: large.lines,
    run: () => mergeGroups(large, large.chunks.length, () => withPatterns(indexers())),
  },
  {
    name: `${FINAL_INPUTS} final chunks of ${Math.round(large.bytes / FINAL_INPUTS / 1e6)} MB, indexed and with patterns`,
    bytes: finals.bytes,
    lines: finals.lines,
    run: () => mergeGroups(finals, FINAL_INPUTS, finals.indexer),
  },
  {
    name: `${small.chunks.length} inputs of 1 KB, ${GROUP} at a time`,
    bytes: small.bytes,
    lines: small.lines,
    run: () => mergeGroups(small, GROUP),
  },
];
