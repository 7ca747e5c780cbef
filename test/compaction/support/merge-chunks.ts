/** Chunks of plain entries, merged, and read back: models for the tests of the merge. */

import type { PageRows } from '../../../shared/base/model/page.ts';
import { memoryObjectStore } from '../../../shared/base/ports/memory/object-store.ts';
import { writerOf } from '../../../shared/base/ports/object-writer.ts';
import type { ChunkIndexer } from '../../../shared/storage/chunk/chunk-indexer.ts';
import type { Footer } from '../../../shared/storage/chunk/format.ts';
import { decodePage, footerOf } from '../../../shared/storage/chunk/reader.ts';
import { writeChunk } from '../../../shared/storage/chunk/writer.ts';
import { loadBlock, QUICK_COMPRESSION } from '../../../shared/storage/codec/compression.ts';
import {
  type MergeInput,
  type MergeOptions,
  type MergeSummary,
  mergeChunks,
} from '../../../shared/upkeep/compaction/merge.ts';
import { chunkIndexers } from '../../../shared/upkeep/indexing/index-chunk.ts';
import { readStoredExtras, type StoredExtras } from '../../../shared/upkeep/indexing/stored-extras.ts';
import { entriesOfPage, type PlainEntry, rowsOf, streamOf } from '../../support/rows.ts';

export const DAY = 20_412;
export const DAY_START = BigInt(DAY) * 86_400_000_000_000n;

interface Merged {
  readonly summary: MergeSummary;
  readonly objects: readonly Buffer[];
  /** Part of the streams of each object. */
  readonly parts: readonly number[];
  readonly footers: readonly Footer[];
  readonly entries: readonly PlainEntry[];
}

/** 32 hex digits. */
export function chunkId(number: number): string {
  return number.toString(16).padStart(32, '0');
}

/** An object of the entries; entries that are given twice are stored twice. */
export async function objectOf(entries: readonly PlainEntry[], id: string, day = DAY): Promise<Buffer> {
  const head = { id, tenant: 't-1', day, level: 0, createdMs: 1, inputs: [] };
  const { parts } = await writeChunk(head, rowsOf(entries), QUICK_COMPRESSION);
  return Buffer.concat(parts);
}

export function inputOf(object: Buffer): MergeInput {
  const { counts, ...footer } = footerOf(object, 'an input');
  const read = async (start: number, end: number) => Buffer.from(object.subarray(start, end));
  return { footer, counts, storedBytes: object.length, read };
}

/** Returns the raw bytes of a section, or undefined if the chunk has none of this kind. */
export function sectionOf(object: Buffer, kind: number): Buffer | undefined {
  const section = footerOf(object, 'a chunk').sections.find(one => one.kind === kind);
  if (section === undefined) return undefined;
  const { block } = section;
  return loadBlock(object.subarray(block.offset, block.offset + block.storedBytes), block, 'a section');
}

/** Inputs whose pages may be copied, and the indexer of the output. */
export async function copyableInputsOf(
  objects: readonly Buffer[],
): Promise<{ readonly inputs: MergeInput[]; readonly indexer: () => ChunkIndexer }> {
  const inputs: MergeInput[] = [];
  const extras: StoredExtras[] = [];
  for (const object of objects) {
    const input = inputOf(object);
    const parts = await readStoredExtras(async kind => sectionOf(object, kind), input.footer.pages.length);
    inputs.push(parts === undefined ? input : { ...input, copySource: extras.length });
    if (parts !== undefined) extras.push(parts);
  }
  return { inputs, indexer: () => chunkIndexers(0)(extras) };
}

export async function inputsOf(chunks: readonly (readonly PlainEntry[])[]): Promise<MergeInput[]> {
  return Promise.all(chunks.map(async (entries, i) => inputOf(await objectOf(entries, chunkId(i + 1)))));
}

export function pagesOf(object: Buffer): PageRows[] {
  const footer = footerOf(object, 'an object');
  const wants = { lines: 'bytes', metadata: 'all' } as const;
  return footer.pages.map(page => {
    const stored = object.subarray(page.offset, page.offset + page.storedBytes);
    const rows = decodePage(footer, page, stored, wants, 'an object');
    const { baseNs, times, lineOffsets, runs, metadata } = rows;
    return { rows: rows.rows, baseNs, times, lineOffsets, runs, metadata, lines: Buffer.from(rows.lines) };
  });
}

export async function merge(
  inputs: readonly MergeInput[],
  options: Partial<MergeOptions> = {},
): Promise<Merged> {
  let made = 0xf000;
  const objects: Buffer[] = [];
  const parts: number[] = [];
  const all: MergeOptions = {
    tenant: 't-1',
    day: DAY,
    level: 1,
    newId: () => chunkId(++made),
    newWriter: () => writerOf(memoryObjectStore()),
    createdMs: 2,
    compression: QUICK_COMPRESSION,
    ...options,
  };
  const summary = await mergeChunks(inputs, all, async ({ bytes }, writer, streamPart) => {
    objects.push(await writer.read(0, bytes));
    parts.push(streamPart);
  });
  return {
    summary,
    objects,
    parts,
    footers: objects.map(object => footerOf(object, 'an output')),
    entries: objects.flatMap(object =>
      sorted(pagesOf(object).flatMap(page => entriesOfPage(page, DAY_START))),
    ),
  };
}

/** Identity of an entry: metadata is a set. */
export function keyOf({ stream, time, line, metadata }: PlainEntry): string {
  const pairs = Object.entries(metadata).sort((a, b) => (a[0] < b[0] ? -1 : 1));
  return JSON.stringify([streamOf(stream).text, time, line, pairs]);
}

/** Each entry once, by stream and time, and otherwise in the order given. */
export function inOrder(entries: readonly PlainEntry[]): PlainEntry[] {
  const first = new Map<string, PlainEntry>();
  for (const entry of entries) if (!first.has(keyOf(entry))) first.set(keyOf(entry), entry);
  return sorted([...first.values()]);
}

/** By stream and time, and otherwise in the order given. */
function sorted(entries: readonly PlainEntry[]): PlainEntry[] {
  const text = new Map(entries.map(entry => [entry, Buffer.from(streamOf(entry.stream).text)]));
  return entries.toSorted((a, b) => Buffer.compare(text.get(a)!, text.get(b)!) || a.time - b.time);
}
