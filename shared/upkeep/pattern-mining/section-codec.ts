/**
 * Section of a chunk that holds its patterns (docs/dev/format.md#11-patterns): templates, and for each page
 * the number of lines by template, level and time. A page's part is self-contained, so a page that is copied
 * takes its part along. Nothing remains of a page that is not copied, not even a word of its lines.
 */
import { crc32 } from 'node:zlib';
import { CorruptionError } from '../../base/model/errors.ts';
import { ByteReader, ByteWriter } from '../../storage/codec/byte-io.ts';
import { borrowBlock, QUICK_COMPRESSION, storeBlockSync } from '../../storage/codec/compression.ts';
import { MAX_SECTION_BYTES, MAX_TEMPLATES } from './bounds.ts';
import { LEVEL_BITS } from './levels.ts';

/** A reader that does not support the version mines lines instead. */
const VERSION = 1;
const LEVEL_MASK = (1 << LEVEL_BITS) - 1;
/** Unit of bucket widths, in seconds. */
const WIDTH_UNIT_S = 10;

/** Receives the counts of a page's part. `second` is the start of the bucket, in seconds of the day. */
export type CountSink = (template: number, level: number, second: number, lines: number) => void;

export interface PatternSection {
  /** Bytes of templates as latin1. */
  readonly templates: readonly string[];
  /** Parts of the pages, in page order. */
  readonly pages: readonly Buffer[];
  /** Memory size of the section. */
  readonly bytes: number;
}

/** Counts of one run, by level and template. */
export interface CountGroup {
  /** `template << LEVEL_BITS | level` */
  readonly key: number;
  /** Numbers of the buckets, ascending: time of day divided by the width. */
  readonly buckets: number[];
  readonly lines: number[];
}

/** `undefined` if it would be too large for a reader. */
export function encodeSection(
  templates: readonly string[],
  pages: readonly Uint8Array[],
): Buffer | undefined {
  const body = new ByteWriter(64 * 1024);
  body.varint(templates.length);
  for (const key of templates) body.block(Buffer.from(key, 'latin1'));
  body.varint(pages.length);
  for (const page of pages) body.block(page);
  if (body.length > MAX_SECTION_BYTES) return undefined;
  // A strong compression takes four times as long, a fifth of mining JSON lines, and saves 3 to 6% of the section.
  const { codec, rawBytes, bytes } = storeBlockSync(body.view(), QUICK_COMPRESSION);
  const section = new ByteWriter(bytes.length + 16);
  section.byte(VERSION);
  section.byte(codec);
  section.varint(rawBytes);
  section.bytes(bytes);
  return section.finish();
}

/** `undefined` for a version of a later program. Throws CorruptionError. */
export function decodeSection(section: Buffer, what: string): PatternSection | undefined {
  const head = new ByteReader(section);
  if (head.byte() !== VERSION) return undefined;
  const codec = head.byte();
  const rawBytes = head.varint();
  if (rawBytes > MAX_SECTION_BYTES) throw new CorruptionError(`${what}: claims ${rawBytes} bytes`);
  const stored = head.bytes(head.remaining);
  const handle = { offset: 0, storedBytes: stored.length, rawBytes, codec, crc: crc32(stored) };
  // Copied, because parts are read later.
  const body = Buffer.from(borrowBlock(stored, handle, what));
  const reader = new ByteReader(body);
  const templates = Array.from({ length: reader.count(1) }, () => reader.block().latin1Slice());
  if (templates.length > MAX_TEMPLATES)
    throw new CorruptionError(`${what}: has ${templates.length} templates`);
  const pages = Array.from({ length: reader.count(1) }, () => reader.block());
  return { templates, pages, bytes: body.length + 32 * pages.length + 2 * templates.length };
}

/**
 * Throws CorruptionError if parts do not decode, or if they are not those of the pages of a chunk.
 * @param pages all pages of the chunk
 * @param what names the section
 */
export function checkParts(
  { templates, pages: parts }: PatternSection,
  pages: readonly { readonly runs: readonly unknown[] }[],
  what: string,
): void {
  if (parts.length !== pages.length) {
    throw new CorruptionError(`${what}: has ${parts.length} pages, the chunk ${pages.length}`);
  }
  for (const [page, part] of parts.entries()) {
    const runs = pages[page].runs.length;
    let isKnown = true;
    const wants = (run: number) => {
      if (run >= runs) isKnown = false;
      return true;
    };
    readCounts(part, wants, template => {
      if (template >= templates.length) isKnown = false;
    });
    if (!isKnown)
      throw new CorruptionError(`${what}: page ${page} has a run or a template that is not there`);
  }
}

/**
 * Writes what precedes the groups of a run. `run` is the difference to the index of the previous run (for the first, its
 * index).
 */
export function writeRunHead(writer: ByteWriter, run: number, widthS: number, groups: number): void {
  writer.varint(run);
  writer.varint(widthS / WIDTH_UNIT_S);
  writer.varint(groups);
}

/** Writes one run of a page. `run` is that of `writeRunHead`. */
export function writeRun(
  writer: ByteWriter,
  run: number,
  widthS: number,
  groups: readonly CountGroup[],
): void {
  writeRunHead(writer, run, widthS, groups.length);
  for (const { key, buckets, lines } of groups) {
    writer.varint(key);
    writer.varint(buckets.length);
    for (let i = 0, before = 0; i < buckets.length; i++) {
      writer.varint(buckets[i] - before);
      writer.varint(lines[i]);
      before = buckets[i];
    }
  }
}

interface RunCounts {
  /** Index of the run in its page. */
  readonly run: number;
  readonly widthS: number;
  readonly groups: readonly CountGroup[];
}

/** Reads all runs of a part. Throws CorruptionError. */
export function readRuns(part: Buffer): RunCounts[] {
  const reader = new ByteReader(part);
  const runs: RunCounts[] = [];
  for (let run = 0; reader.remaining > 0; ) {
    run += reader.varint();
    const widthS = reader.varint() * WIDTH_UNIT_S;
    const groups = Array.from({ length: reader.count(2) }, (): CountGroup => {
      const key = reader.varint();
      const buckets: number[] = [];
      const lines: number[] = [];
      for (let left = reader.count(2), bucket = 0; left > 0; left--) {
        bucket += reader.varint();
        buckets.push(bucket);
        lines.push(reader.varint());
      }
      return { key, buckets, lines };
    });
    runs.push({ run, widthS, groups });
  }
  return runs;
}

/** Passes the counts of the wanted runs to the sink. Throws CorruptionError. */
export function readCounts(part: Buffer, wants: (run: number) => boolean, sink: CountSink): void {
  const reader = new ByteReader(part);
  for (let run = 0; reader.remaining > 0; ) {
    run += reader.varint();
    const widthS = reader.varint() * WIDTH_UNIT_S;
    const isWanted = wants(run);
    for (let groups = reader.count(2); groups > 0; groups--) {
      const key = reader.varint();
      const level = key & LEVEL_MASK;
      const template = key >>> LEVEL_BITS;
      for (let left = reader.count(2), bucket = 0; left > 0; left--) {
        bucket += reader.varint();
        const lines = reader.varint();
        if (isWanted) sink(template, level, bucket * widthS, lines);
      }
    }
  }
}
