/**
 * Receives requests of Amazon Data Firehose to an HTTP endpoint: `{"requestId", "timestamp", "records":
 * [{"data": base64}]}`.
 *
 * A record contains what a producer wrote: lines of text, JSON documents one per line, or the gzip envelope
 * of a CloudWatch Logs subscription. Unpacking concatenates the records, each ended by a line feed, into one
 * body of lines. Entries without a time get that of the request, so a repeat yields the same entries.
 */
import { createGunzip, gunzipSync } from 'node:zlib';
import { BadRequestError } from '../../../base/model/errors.ts';
import { freeLarge, freeWhole } from '../../../base/model/free-bytes.ts';
import { type Label, labelsOf } from '../../../base/model/labels.ts';
import { runPaced, type Steps, UNPACED } from '../../../base/model/steps.ts';
import { MAX_BODY_BYTES, MAX_PUSH_ENTRIES, tooMany } from '../bounds.ts';
import { JsonScanner } from '../json-scanner.ts';
import { PushColumns } from '../push-columns.ts';
import type { DecodeContext, Receiver } from '../receiver.ts';
import { streamOf } from '../stream-table.ts';
import { type Timestamp, timestampOf } from '../timestamp.ts';
import { boundedByRatio, GrowingBytes, type UnpackOptions } from '../unpacked-bytes.ts';
import { MAX_RECORDS } from './bounds.ts';
import { addEnvelope, looksLikeEnvelope } from './cloudwatch-logs.ts';
import { DocumentEntries } from './document-entries.ts';
import type { FieldOptions } from './field-options.ts';
import { isBlank, LineEnds, unpackText } from './text-body.ts';
import { addNanoseconds } from './time-value.ts';
import { validUtf8 } from './valid-utf8.ts';

const RECORDS = Buffer.from('records');
const DATA = Buffer.from('data');
const TIMESTAMP = Buffer.from('timestamp');
const LINE_FEED = 0x0a;
/**
 * Records below this size are decompressed on this thread: handing them to another thread would cost more
 * than the work. Their content takes at most a few milliseconds.
 */
const MAX_SYNC_BYTES = 32 * 1024;
const MAX_SYNC_CONTENT_BYTES = 128 * 1024;
const CHUNK_BYTES = 64 * 1024;
/** Base64 digits decoded at a time, a multiple of 4. */
const BASE64_STEP = 64 * 1024;
/** Bytes of the body decoded per step: 0.2 ms. */
const STEP_BYTES = 16 * 1024;
const MAX_MS = 1e14;

interface FirehoseOptions {
  readonly fields: FieldOptions;
  /** Labels of every entry. */
  readonly labels: readonly Label[];
}

/** Creates the receiver of one request. It stores the time of the request between unpacking and decoding. */
export function firehoseReceiver(options: FirehoseOptions): Receiver {
  let requestMs: number | undefined;
  return {
    format: 'firehose',
    async unpack(body, headers, limits, held, pace = UNPACED) {
      const bytes = await unpackText(body, headers, limits, held, pace);
      const maxBytes = boundedByRatio(body.length, Math.min(limits.maxDecompressedBytes, MAX_BODY_BYTES));
      const content = new GrowingBytes({ maxBytes, held, pace });
      let joined: Buffer;
      try {
        const request = await runPaced(readRequest(bytes), pace);
        requestMs = request.timestampMs;
        joined = await joinRecords(bytes, request.records, { pace, held }, content);
      } catch (error) {
        content.release();
        throw error;
      } finally {
        if (bytes.buffer !== body.buffer) freeLarge(bytes);
      }
      const text = await runPaced(validUtf8(joined), pace);
      if (text.buffer !== joined.buffer) freeLarge(joined);
      return text;
    },
    decode(bytes, context) {
      const nowNs = requestMs === undefined ? context.nowNs : BigInt(requestMs) * 1_000_000n;
      return decodeRecords(bytes, { ...context, nowNs }, options);
    },
    repeatable: true,
  };
}

interface FirehoseRequest {
  readonly timestampMs: number | undefined;
  /** Start and end of the base64 of each record, alternating. */
  readonly records: readonly number[];
}

function* readRequest(bytes: Buffer): Steps<FirehoseRequest> {
  const scanner = new JsonScanner(bytes);
  const records: number[] = [];
  let elements = 0;
  let hasRecords = false;
  let timestampMs: number | undefined;
  let stop = STEP_BYTES;
  yield* scanner.prepare();
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (scanner.is(RECORDS)) {
      hasRecords = true;
      scanner.enterArray();
      while (scanner.nextElement()) {
        if (++elements > MAX_RECORDS) throw tooMany('records', MAX_RECORDS);
        scanner.checkDense('one record');
        readRecord(scanner, records);
        if (scanner.at < stop) continue;
        stop = scanner.at + STEP_BYTES;
        yield;
      }
    } else if (scanner.is(TIMESTAMP)) {
      scanner.peek();
      const start = scanner.at;
      scanner.skipValue();
      const ms = Number(bytes.latin1Slice(start, Math.min(scanner.at, start + 20)));
      if (Number.isInteger(ms) && ms > 0 && ms < MAX_MS) timestampMs = ms;
    } else scanner.skipValue();
    if (scanner.at < stop) continue;
    stop = scanner.at + STEP_BYTES;
    yield;
  }
  if (!hasRecords) throw new BadRequestError('the request has no records');
  return { timestampMs, records };
}

function readRecord(scanner: JsonScanner, records: number[]): void {
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (!scanner.is(DATA)) scanner.skipValue();
    else {
      if (records.length === 2 * MAX_RECORDS) throw tooMany('records', MAX_RECORDS);
      scanner.string();
      // Not UTF-8, so not base64 either. Its range would be outside the body.
      if (scanner.isInOverflow()) throw new BadRequestError('record data is not valid base64');
      records.push(scanner.start, scanner.end);
    }
  }
}

/** Concatenates the content of all records into `joined`, each ended by a line feed. */
async function joinRecords(
  bytes: Buffer,
  records: readonly number[],
  { pace, held }: Pick<UnpackOptions, 'pace' | 'held'>,
  joined: GrowingBytes,
): Promise<Buffer> {
  const digits: Digits = { bytes, at: 0, end: 0 };
  for (let i = 0; i < records.length; ) {
    // Adds the records that fit, then one that needs more memory or decompression.
    i = await runPaced(joinSome(bytes, records, i, joined), pace);
    if (i === records.length) break;
    setDigits(digits, records, i);
    const length = decodedLength(digits);
    if (isGzip(digits)) {
      await held.take(length);
      const record = Buffer.allocUnsafeSlow(length);
      await runPaced(decodeBase64(digits, record, 0), pace);
      await unzip(record, joined);
      freeLarge(record);
      if (!joined.fits(1)) await joined.grow(1);
      joined.bytes[joined.length++] = LINE_FEED;
      i += 2;
    } else await joined.grow(length + 1);
  }
  return joined.finish();
}

/**
 * Adds records from index `first` on that are not in gzip, as long as they fit. Returns the index of the next
 * one.
 */
function* joinSome(
  bytes: Buffer,
  records: readonly number[],
  first: number,
  joined: GrowingBytes,
): Steps<number> {
  const digits: Digits = { bytes, at: 0, end: 0 };
  for (let i = first; i < records.length; i += 2) {
    setDigits(digits, records, i);
    const length = decodedLength(digits);
    if (isGzip(digits) || !joined.fits(length + 1)) return i;
    yield* decodeBase64(digits, joined.bytes, joined.length);
    joined.length += length;
    joined.bytes[joined.length++] = LINE_FEED;
  }
  return records.length;
}

/** Base64 digits `bytes[at, end)`, without the padding. */
interface Digits {
  readonly bytes: Buffer;
  at: number;
  end: number;
}

const PADDING = 0x3d;

/** Selects the record at an index of the list. */
function setDigits(digits: Digits, records: readonly number[], i: number): void {
  digits.at = records[i];
  digits.end = withoutPadding(digits.bytes, records[i], records[i + 1]);
}

function withoutPadding(bytes: Buffer, start: number, end: number): number {
  let to = end;
  while (to > start && end - to < 2 && bytes[to - 1] === PADDING) to--;
  return to;
}

function decodedLength({ at, end }: Digits): number {
  const digits = end - at;
  if (digits % 4 === 1) throw new BadRequestError('record data is not valid base64');
  return Math.floor((digits * 3) / 4);
}

/** Decodes into `into[to]`. Throws on an invalid digit: Node skips those, and entries would be lost. */
function* decodeBase64({ bytes, at: start, end }: Digits, into: Buffer, to: number): Steps<void> {
  let written = to;
  for (let at = start; at < end; at += BASE64_STEP) {
    const digits = Math.min(BASE64_STEP, end - at);
    const length = Math.floor((digits * 3) / 4);
    const text = bytes.latin1Slice(at, at + digits);
    if (into.write(text, written, length, 'base64') !== length) {
      throw new BadRequestError('record data is not valid base64');
    }
    written += length;
    yield;
  }
}

function isGzip({ bytes, at, end }: Digits): boolean {
  const head = Buffer.from(bytes.latin1Slice(at, Math.min(end, at + 4)), 'base64');
  return end - at >= 4 && head[0] === 0x1f && head[1] === 0x8b && head[2] === 8;
}

/** Adds the content of a record. */
async function unzip(record: Buffer, joined: GrowingBytes): Promise<void> {
  const content = record.length < MAX_SYNC_BYTES ? unzipSmall(record) : undefined;
  if (content !== undefined) {
    if (!joined.fits(content.length)) await joined.grow(content.length);
    joined.length += content.copy(joined.bytes, joined.length);
    // The content has its own chunk, because no chunk is larger.
    if (content.length > 0) freeWhole(content);
    return;
  }
  const stream = createGunzip({ chunkSize: CHUNK_BYTES });
  stream.end(record);
  let last: Buffer | undefined;
  try {
    for await (const part of stream as AsyncIterable<Buffer>) {
      if (!joined.fits(part.length)) await joined.grow(part.length);
      joined.length += part.copy(joined.bytes, joined.length);
      // The stream no longer uses a chunk when it has started another one.
      if (last !== undefined && last.buffer !== part.buffer) freeWhole(last);
      last = part;
    }
    if (last !== undefined) freeWhole(last);
  } catch (error) {
    throw isOfZlib(error) ? brokenGzip(error) : error;
  }
}

/** Returns the content of a small record, or undefined if it is too large to be decompressed at once. */
function unzipSmall(record: Buffer): Buffer | undefined {
  try {
    return gunzipSync(record, { maxOutputLength: MAX_SYNC_CONTENT_BYTES, chunkSize: MAX_SYNC_CONTENT_BYTES });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') return undefined;
    throw brokenGzip(error);
  }
}

function isOfZlib(error: unknown): boolean {
  return String((error as NodeJS.ErrnoException).code).startsWith('Z_');
}

function brokenGzip(cause: unknown): BadRequestError {
  return new BadRequestError('a gzip record cannot be decompressed', { cause });
}

const TIME: Timestamp = { day: 0, timeOfDay: 0 };

function* decodeRecords(
  bytes: Buffer,
  context: DecodeContext,
  { fields, labels }: FirehoseOptions,
): Steps<PushColumns> {
  const columns = new PushColumns(bytes);
  const documents = yield* DocumentEntries.over(columns, fields, context);
  const target = { columns, streams: documents.streams, labels };
  const arrival = timestampOf(context.nowNs);
  const ends = new LineEnds(bytes);
  let plainStream = -1;
  let plainLines = 0;
  let stop = STEP_BYTES;
  for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
    while ((end = ends.find(start)) < 0) yield;
    if (end >= stop) {
      stop = end + STEP_BYTES;
      yield;
    }
    if (isBlank(bytes, start, end)) continue;
    if (bytes[start] === 0x7b) {
      if (looksLikeEnvelope(bytes, start, end)) {
        yield* addEnvelope(target, start, end);
        continue;
      }
      if (documents.add(start, end, '', labels) === undefined) continue;
    }
    if (columns.count === MAX_PUSH_ENTRIES) throw tooMany('entries', MAX_PUSH_ENTRIES);
    if (plainStream < 0) {
      const pairs = labels.map(({ name, value }) => [name, value] as const);
      plainStream = documents.streams.indexOf(streamOf(labelsOf(pairs)));
    }
    addNanoseconds(TIME, arrival, plainLines++);
    const last = bytes[end - 1] === 0x0d ? end - 1 : end;
    columns.addEntry(plainStream, TIME.day, TIME.timeOfDay, start, last);
  }
  return columns;
}
