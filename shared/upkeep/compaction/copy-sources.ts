/**
 * Index parts of the inputs of a merge whose pages may be copied: the text index, page summaries, and patterns
 * if they are on. The output takes over the part of each copied page.
 *
 * Only final chunks have them, so pages of pushes and drafts are never copied. Chunks of earlier versions with
 * other index parts are not copied either, and have the latest ones after the merge.
 */
import { CorruptionError } from '../../base/model/errors.ts';
import type { ObjectStore } from '../../base/ports/object-store.ts';
import { nameOfChunk, readChunk } from '../../storage/catalog/chunk-object.ts';
import type { ChunkRecord } from '../../storage/catalog/chunk-record.ts';
import { SectionKind } from '../../storage/chunk/format.ts';
import { loadBlock } from '../../storage/codec/compression.ts';
import { readStoredExtras, type StoredExtras } from '../indexing/stored-extras.ts';
import { checkParts, decodeSection, type PatternSection } from '../pattern-mining/section-codec.ts';
import { COPIED_SHARE, MAX_EXTRAS_BYTES } from './merge-bounds.ts';
import type { MergeInput } from './merge-reader.ts';
import { FINAL_LEVEL } from './merge-sizes.ts';

export interface CopySources {
  /** The inputs, with the number of their index parts in the lists below. */
  readonly inputs: readonly MergeInput[];
  readonly extras: readonly StoredExtras[];
  /** Empty if patterns are off. */
  readonly patterns: readonly PatternSection[];
}

interface SourceOptions {
  readonly minesPatterns: boolean;
  readonly pageBytes: number;
}

/**
 * Reads the index parts of inputs, of as many as have MAX_EXTRAS_BYTES together. Throws what the store throws.
 * @param records records of the inputs
 */
export async function openCopySources(
  store: ObjectStore,
  records: readonly ChunkRecord[],
  inputs: readonly MergeInput[],
  options: SourceOptions,
): Promise<CopySources> {
  let bytes = 0;
  const reads = inputs.map((input, i) => {
    if (!mayCopy(records[i], input, options)) return undefined;
    bytes += input.footer.sections.reduce((sum, { block }) => sum + block.rawBytes, 0);
    return bytes > MAX_EXTRAS_BYTES ? undefined : readParts(store, records[i], input, options);
  });
  const found = await Promise.all(reads);
  const parts = found.filter(one => one !== undefined);
  return {
    inputs: inputs.map((input, i) => {
      const part = found[i];
      return part === undefined ? input : { ...input, copySource: parts.indexOf(part) };
    }),
    extras: parts.map(({ extras }) => extras),
    patterns: parts.flatMap(({ patterns }) => patterns ?? []),
  };
}

function mayCopy({ level }: ChunkRecord, { footer }: MergeInput, { pageBytes }: SourceOptions): boolean {
  const { pages, sections } = footer;
  const isLarge = pages.some(({ lineBytes }) => lineBytes >= pageBytes * COPIED_SHARE);
  return level >= FINAL_LEVEL && isLarge && sections.length > 0;
}

interface SourceParts {
  readonly extras: StoredExtras;
  /** Undefined if patterns are off. */
  readonly patterns: PatternSection | undefined;
}

/**
 * Reads all sections with one request. Returns undefined if a part is missing or damaged: the merge then
 * derives all parts from the lines.
 */
async function readParts(
  store: ObjectStore,
  record: ChunkRecord,
  { footer }: MergeInput,
  { minesPatterns }: SourceOptions,
): Promise<SourceParts | undefined> {
  const { sections, pages } = footer;
  const start = Math.min(...sections.map(({ block }) => block.offset));
  const end = Math.max(...sections.map(({ block }) => block.offset + block.storedBytes));
  const stored = await readChunk(store, record, start, end);
  const load = async (kind: number) => {
    const section = sections.find(one => one.kind === kind);
    if (section === undefined) return undefined;
    const { offset, storedBytes } = section.block;
    const bytes = stored.subarray(offset - start, offset - start + storedBytes);
    return loadBlock(bytes, section.block, `${nameOfChunk(record)}: section of kind ${kind}`);
  };
  try {
    const extras = await readStoredExtras(load, pages.length);
    if (extras === undefined) return undefined;
    if (!minesPatterns) return { extras, patterns: undefined };
    const section = await load(SectionKind.patterns);
    const what = `${nameOfChunk(record)}: patterns`;
    const patterns = section && decodeSection(section, what);
    if (patterns === undefined) return undefined;
    checkParts(patterns, pages, what);
    return { extras, patterns };
  } catch (error) {
    if (error instanceof CorruptionError) return undefined;
    throw error;
  }
}
