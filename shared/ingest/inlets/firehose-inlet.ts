/**
 * Requests of Amazon Data Firehose to an HTTP endpoint: `{"requestId", "timestamp", "records": [{"data": base64}]}`.
 *
 * A record is what a producer wrote: lines of text, JSON documents one to a line, or the envelope of a subscription of
 * CloudWatch Logs, in gzip as it sends them. Unpacking puts the records behind each other, each ended by a line feed;
 * from then on they are one body of lines. What has no time of its own gets that of the request, so that a repeat gives
 * the same entries.
 */
import { promisify } from 'node:util';
import { gunzip, gunzipSync } from 'node:zlib';
import { BadRequestError, TooLargeError } from '../../model/errors.ts';
import { type Label, labelsOf } from '../../model/labels.ts';
import type { BodyLimits } from '../body.ts';
import { MAX_BODY_BYTES, MAX_ENTRIES, tooMany } from '../bounds.ts';
import type { DecodeContext, Inlet } from '../inlet.ts';
import { JsonScanner } from '../json-scanner.ts';
import type { HeldBytes } from '../push-budget.ts';
import { PushColumns } from '../push-columns.ts';
import { streamOf } from '../stream-table.ts';
import { type Timestamp, timestampOf } from '../timestamp.ts';
import { MAX_RECORDS } from './bounds.ts';
import { addEnvelope, looksLikeEnvelope } from './cloudwatch-logs.ts';
import { DocumentEntries } from './document-entries.ts';
import type { FieldOptions } from './field-options.ts';
import { isBlank, lineEnd, unpackText } from './text-body.ts';
import { addNanoseconds } from './time-value.ts';
import { validUtf8 } from './valid-utf8.ts';

const gunzipAsync = promisify(gunzip);

const RECORDS = Buffer.from('records');
const DATA = Buffer.from('data');
const TIMESTAMP = Buffer.from('timestamp');
const LINE_FEED = Buffer.from('\n');
/** Smaller ones are unpacked at once: a thread would cost more than the work. */
const MIN_ASYNC_BYTES = 32 * 1024;
const MAX_MS = 1e14;

export interface FirehoseOptions {
  readonly fields: FieldOptions;
  /** Of every entry. */
  readonly labels: readonly Label[];
}

/** The inlet of one request: it keeps the time of the request between unpacking and decoding. */
export function firehoseInlet(options: FirehoseOptions): Inlet {
  let requestMs: number | undefined;
  return {
    format: 'firehose',
    async unpack(body, headers, limits, held) {
      const bytes = await unpackText(body, headers, limits, held);
      const request = readRequest(bytes);
      requestMs = request.timestampMs;
      return validUtf8(await joinRecords(bytes, request.records, limits, held));
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
  /** Start and end of the base64 of each record, in turn. */
  readonly records: readonly number[];
}

function readRequest(bytes: Buffer): FirehoseRequest {
  const scanner = new JsonScanner(bytes);
  const records: number[] = [];
  let hasRecords = false;
  let timestampMs: number | undefined;
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (scanner.is(RECORDS)) {
      hasRecords = true;
      scanner.enterArray();
      while (scanner.nextElement()) readRecord(scanner, records);
    } else if (scanner.is(TIMESTAMP)) {
      scanner.peek();
      const start = scanner.at;
      scanner.skipValue();
      const ms = Number(bytes.latin1Slice(start, Math.min(scanner.at, start + 20)));
      if (Number.isInteger(ms) && ms > 0 && ms < MAX_MS) timestampMs = ms;
    } else scanner.skipValue();
  }
  if (!hasRecords) throw new BadRequestError('the request has no records');
  return { timestampMs, records };
}

function readRecord(scanner: JsonScanner, records: number[]): void {
  if (records.length === 2 * MAX_RECORDS) throw tooMany('records', MAX_RECORDS);
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (!scanner.is(DATA)) scanner.skipValue();
    else {
      scanner.string();
      // No UTF-8, so no base64 either; its range would lie behind the body.
      if (scanner.isSpilled()) throw new BadRequestError('the data of a record is no base64');
      records.push(scanner.start, scanner.end);
    }
  }
}

async function joinRecords(
  bytes: Buffer,
  records: readonly number[],
  limits: BodyLimits,
  held: HeldBytes,
): Promise<Buffer> {
  const maxBytes = Math.min(limits.maxDecompressedBytes, MAX_BODY_BYTES);
  const parts: Buffer[] = [];
  let total = 0;
  for (let i = 0; i < records.length; i += 2) {
    const record = decodeBase64(bytes.latin1Slice(records[i], records[i + 1]));
    const plain = isGzip(record) ? await unzip(record, maxBytes - total, maxBytes) : record;
    total += plain.length + 1;
    if (total > maxBytes) throw tooLarge(maxBytes);
    held.take(plain.length + 1);
    parts.push(plain, LINE_FEED);
  }
  return Buffer.concat(parts, total);
}

/** Node leaves out what is no base64: entries would be lost and the request answered as stored. */
function decodeBase64(text: string): Buffer {
  const digits = text.length - (text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0);
  const bytes = Buffer.from(text, 'base64');
  if (digits % 4 === 1 || bytes.length !== Math.floor((digits * 3) / 4)) {
    throw new BadRequestError('the data of a record is no base64');
  }
  return bytes;
}

function isGzip(record: Uint8Array): boolean {
  return record.length > 2 && record[0] === 0x1f && record[1] === 0x8b && record[2] === 8;
}

/** At most `leftBytes` of the `maxBytes` of the request. */
async function unzip(record: Buffer, leftBytes: number, maxBytes: number): Promise<Buffer> {
  const options = { maxOutputLength: Math.max(1, leftBytes) };
  try {
    return record.length < MIN_ASYNC_BYTES ? gunzipSync(record, options) : await gunzipAsync(record, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(maxBytes);
    throw new BadRequestError('a record begins as gzip and cannot be unpacked', { cause: error });
  }
}

function tooLarge(maxBytes: number): TooLargeError {
  return new TooLargeError(
    `request body too large: decompressed message size too large than max (${maxBytes + 1} vs ${maxBytes})`,
  );
}

const time: Timestamp = { day: 0, timeOfDay: 0 };

function decodeRecords(
  bytes: Buffer,
  context: DecodeContext,
  { fields, labels }: FirehoseOptions,
): PushColumns {
  const columns = new PushColumns(bytes);
  const documents = new DocumentEntries(columns, fields, context);
  const target = { columns, streams: documents.streams, labels };
  const arrival = timestampOf(context.nowNs);
  let plainStream = -1;
  let plainLines = 0;
  for (let start = 0, end = 0; start < bytes.length; start = end + 1) {
    end = lineEnd(bytes, start);
    if (isBlank(bytes, start, end)) continue;
    if (bytes[start] === 0x7b) {
      if (looksLikeEnvelope(bytes, start, end)) {
        addEnvelope(target, start, end);
        continue;
      }
      if (documents.add(start, end, '', labels) === undefined) continue;
    }
    if (columns.count === MAX_ENTRIES) throw tooMany('entries', MAX_ENTRIES);
    if (plainStream < 0) {
      const pairs = labels.map(({ name, value }) => [name, value] as const);
      plainStream = documents.streams.place(streamOf(labelsOf(pairs)));
    }
    addNanoseconds(time, arrival, plainLines++);
    const last = bytes[end - 1] === 0x0d ? end - 1 : end;
    columns.addEntry(plainStream, time.day, time.timeOfDay, start, last);
  }
  return columns;
}
