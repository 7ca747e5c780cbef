/**
 * Encodes and decodes the footer as described in docs/dev/format.md. Data that a footer refers to must be
 * inside the object, and its counts must add up. Otherwise decoding throws CorruptionError and never yields a
 * wrong result.
 */
import { crc32 } from 'node:zlib';
import { CorruptionError } from '../../base/model/errors.ts';
import { formatLabels, type Label } from '../../base/model/labels.ts';
import type { Stream } from '../../base/model/page.ts';
import { atOnce, type Steps } from '../../base/model/steps.ts';
import { FIRST_DAY, LAST_DAY, NS_OF_DAY } from '../../base/model/time-units.ts';
import { ByteReader, ByteWriter } from '../codec/byte-io.ts';
import { loadBlock, QUICK_COMPRESSION, storeBlockSync } from '../codec/compression.ts';
import { readHandle, readList, writeHandle } from './footer-parts.ts';
import { FORMAT_VERSION, type Footer, MAGIC, TRAILER_BYTES, versionOf } from './format.ts';
import { StoredCounts } from './stored-counts.ts';
import { readPages, writePage } from './stored-page.ts';

const ID_BYTES = 16;
/** The last time of a `Date`. */
const MAX_CREATED_MS = 8.64e15;
/** Streams, pages and counts that are written in one step: a few tenths of a ms. */
const STREAMS_A_STEP = 512;
const COUNTS_A_STEP = 8192;

/** Encodes footer, its length and the magic: everything after pages and sections. */
export function encodeFooter(footer: Footer): Buffer {
  return atOnce(encodeFooterInSteps(footer));
}

export function* encodeFooterInSteps(footer: Footer): Steps<Buffer> {
  const body = new ByteWriter(4096);
  writeHead(body, footer);
  yield* writeStreams(body, footer);
  body.varint(footer.pages.length);
  for (const page of footer.pages) {
    writePage(body, page);
    if (page.runs.length >= STREAMS_A_STEP) yield;
  }
  yield* writeCounts(body, footer);
  body.varint(footer.sections.length);
  for (const section of footer.sections) {
    body.varint(section.kind);
    writeHandle(body, section.block);
  }
  // The origin follows the last section, because readers of older versions ignore bytes there.
  if (footer.origin !== footer.id) body.bytes(Buffer.from(footer.origin, 'hex'));
  const stored = storeBlockSync(body.view(), QUICK_COMPRESSION);
  const out = new ByteWriter(stored.bytes.length + 32);
  out.byte(versionOf(footer.pages));
  out.byte(stored.codec);
  out.varint(stored.rawBytes);
  out.bytes(stored.bytes);
  out.u32(crc32(out.view()));
  out.u32(out.length);
  out.bytes(MAGIC);
  return out.finish();
}

/** Reads the length of the footer (without the trailer) from the last TRAILER_BYTES of an object. */
export function footerLength(trailer: Buffer, objectBytes: number, what: string): number {
  if (trailer.length < TRAILER_BYTES || !trailer.subarray(-MAGIC.length).equals(MAGIC)) {
    throw new CorruptionError(`${what}: does not end as a chunk object`);
  }
  const length = trailer.readUInt32LE(trailer.length - TRAILER_BYTES);
  if (length < 7 || length > objectBytes - TRAILER_BYTES) {
    throw new CorruptionError(`${what}: footer of ${length} bytes in an object of ${objectBytes}`);
  }
  return length;
}

/** @param bytes Footer without the trailer, at most its length */
export function decodeFooter(bytes: Buffer, what: string): Footer {
  const head = new ByteReader(bytes);
  const version = head.byte();
  if (version < 1 || version > FORMAT_VERSION) {
    throw new CorruptionError(
      `${what}: format version ${version}; this program reads up to ${FORMAT_VERSION}`,
    );
  }
  const codec = head.byte();
  const rawBytes = head.varint();
  const storedBytes = bytes.length - 4 - head.position;
  if (storedBytes < 0) throw new CorruptionError(`${what}: footer too short`);
  const crc = bytes.readUInt32LE(bytes.length - 4);
  if (crc32(bytes.subarray(0, -4)) !== crc) throw new CorruptionError(`${what}: footer checksum differs`);
  const stored = head.bytes(storedBytes);
  const block = { offset: 0, storedBytes, rawBytes, codec, crc: crc32(stored) };
  const reader = new ByteReader(loadBlock(stored, block, `${what}: footer`));
  const start = readHead(reader, what);
  const streams = readStreams(reader);
  const pages = readPages(reader, streams.length, what);
  const { levels, counts } = readCounts(reader, streams.length, what);
  const sections = readList(reader, 6, () => ({ kind: reader.varint(), block: readHandle(reader) }));
  const origin = reader.remaining >= ID_BYTES ? reader.bytes(ID_BYTES).toString('hex') : start.id;
  return { version, ...start, origin, streams, pages, levels, counts, sections };
}

function writeHead(out: ByteWriter, footer: Footer): void {
  out.bytes(Buffer.from(footer.id, 'hex'));
  out.text(footer.tenant);
  out.signedVarint(footer.day);
  out.varint(footer.level);
  out.varint(footer.createdMs);
  out.varint(footer.inputs.length);
  for (const input of footer.inputs) out.bytes(Buffer.from(input, 'hex'));
  out.varint(footer.rows);
  out.varint(footer.lineBytes);
  out.varint(footer.metadataBytes);
  out.varint(footer.first);
  out.varint(footer.last - footer.first);
}

function readHead(reader: ByteReader, what: string) {
  const id = reader.bytes(ID_BYTES).toString('hex');
  const tenant = reader.text();
  const day = reader.signedVarint();
  const level = reader.varint();
  const createdMs = reader.varint();
  const inputs = readList(reader, ID_BYTES, () => reader.bytes(ID_BYTES).toString('hex'));
  const rows = reader.varint();
  const lineBytes = reader.varint();
  const metadataBytes = reader.varint();
  const first = reader.varint();
  const last = first + reader.varint();
  if (day < FIRST_DAY || day > LAST_DAY || createdMs > MAX_CREATED_MS || last >= NS_OF_DAY) {
    throw new CorruptionError(`${what}: footer with times out of range`);
  }
  return { id, tenant, day, level, createdMs, inputs, rows, lineBytes, metadataBytes, first, last };
}

function* writeStreams(out: ByteWriter, footer: Footer): Steps<void> {
  out.varint(footer.streams.length);
  let written = 0;
  for (const { labels } of footer.streams) {
    if (++written % STREAMS_A_STEP === 0) yield;
    out.varint(labels.length);
    for (const { name, value } of labels) {
      out.text(name);
      out.text(value);
    }
  }
}

function readStreams(reader: ByteReader): Stream[] {
  return readList(reader, 1, () => {
    const labels: Label[] = readList(reader, 2, () => ({ name: reader.text(), value: reader.text() }));
    return { labels, text: formatLabels(labels) };
  });
}

function* writeCounts(out: ByteWriter, footer: Footer): Steps<void> {
  out.varint(footer.levels.length);
  for (const level of footer.levels) out.text(level);
  let written = 0;
  for (const ofStream of footer.counts) {
    out.varint(ofStream.length);
    for (const counts of ofStream) {
      written += counts.minutes.length;
      if (written >= COUNTS_A_STEP) {
        written = 0;
        yield;
      }
      out.varint(counts.level);
      out.varint(counts.minutes.length);
      let minute = 0;
      for (let i = 0; i < counts.minutes.length; i++) {
        out.varint(counts.minutes[i] - minute);
        minute = counts.minutes[i];
        out.varint(counts.entries[i]);
        out.varint(counts.lineBytes[i]);
        out.varint(counts.metadataBytes[i]);
      }
    }
  }
}

function readCounts(reader: ByteReader, streams: number, what: string) {
  const levels = readList(reader, 1, () => reader.text());
  return { levels, counts: StoredCounts.read(reader, streams, levels.length, what) };
}
