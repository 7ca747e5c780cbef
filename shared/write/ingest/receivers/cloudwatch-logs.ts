/**
 * Decodes what CloudWatch Logs sends to a subscription: an envelope with the events of one log stream.
 *
 *     {"messageType": "DATA_MESSAGE", "owner": "111122223333", "logGroup": "/aws/lambda/shop", "logStream": "2026/..",
 *      "subscriptionFilters": [..], "logEvents": [{"id": "..", "timestamp": 1763726400000, "message": ".."}, ..]}
 *
 * Log group and owner select the stream. The log stream is metadata, because Lambda creates one per process.
 *
 * Times are milliseconds. Events of one envelope with equal times get distinct nanoseconds, in their order.
 * None is then deduplicated as a repeat of another, and a repeated envelope still yields the same entries.
 */
import { BadRequestError } from '../../../base/model/errors.ts';
import { type Label, labelsOf } from '../../../base/model/labels.ts';
import { runPaced, type Steps, UNPACED } from '../../../base/model/steps.ts';
import { MAX_METADATA_PAIRS, MAX_PUSH_ENTRIES, tooMany } from '../bounds.ts';
import { JsonScanner } from '../json-scanner.ts';
import { PushColumns } from '../push-columns.ts';
import type { Receiver } from '../receiver.ts';
import { checkLabelsSize, StreamTable, streamOf } from '../stream-table.ts';
import { setSeconds, type Timestamp } from '../timestamp.ts';
import { unpackText } from './text-body.ts';
import { validUtf8 } from './valid-utf8.ts';

const OWNER = Buffer.from('owner');
const LOG_GROUP = Buffer.from('logGroup');
const LOG_STREAM = Buffer.from('logStream');
const LOG_EVENTS = Buffer.from('logEvents');
const MESSAGE_TYPE = Buffer.from('messageType');
const TIMESTAMP = Buffer.from('timestamp');
const MESSAGE = Buffer.from('message');

const TYPE_MARK = Buffer.from('"messageType"');
const EVENTS_MARK = Buffer.from('"logEvents"');
/**
 * Bytes in which to find the message type and the name of the events. Owner, group, stream and filters before
 * them take at most a few kilobytes.
 */
const MAX_HEAD_BYTES = 8192;
const CONTROL_MESSAGE = 'CONTROL_MESSAGE';
/** Maximum digits of a time in milliseconds, which reaches the year 5138. */
const MAX_TIMESTAMP_DIGITS = 14;
const MAX_SAME_MS = 1_000_000;
/** Maximum line feeds that are removed from the end of a message. */
const MAX_TRIMMED_BYTES = 4096;

interface EnvelopeTarget {
  readonly columns: PushColumns;
  readonly streams: StreamTable;
  /** Labels added to those of each envelope, which have precedence. */
  readonly labels: readonly Label[];
}

/** Creates the receiver of one envelope, in gzip as a subscription sends it. */
export function cloudWatchReceiver(labels: readonly Label[]): Receiver {
  return {
    format: 'cloudwatch_logs',
    async unpack(body, _, limits, held, pace = UNPACED) {
      const bytes = await unpackText(body, { contentEncoding: 'gzip' }, limits, held, pace);
      return runPaced(validUtf8(bytes), pace);
    },
    *decode(bytes) {
      const columns = new PushColumns(bytes);
      yield* addEnvelope({ columns, streams: new StreamTable(columns), labels }, 0, bytes.length);
      return columns;
    },
    repeatable: true,
  };
}

/** Whether a JSON object in `bytes[start, end)` may be an envelope: its head contains both markers. */
export function looksLikeEnvelope(bytes: Buffer, start: number, end: number): boolean {
  const head = bytes.subarray(start, Math.min(end, start + MAX_HEAD_BYTES));
  return head.includes(TYPE_MARK) && head.includes(EVENTS_MARK);
}

/**
 * Adds the events of the envelope `bytes[start, end)`. It must be UTF-8 and part of the bytes of the columns.
 * Strings are unescaped in place. A CONTROL_MESSAGE, with which CloudWatch checks the destination, adds
 * nothing. Throws BadRequestError.
 */
export function* addEnvelope(target: EnvelopeTarget, start: number, end: number): Steps<void> {
  const { columns } = target;
  const scanner = new JsonScanner(columns.bytes.subarray(start, end));
  yield* scanner.prepare();
  const texts = new Map<string, string>();
  const firstEntry = columns.count;
  let isControl = false;
  let streamStart = 0;
  let streamEnd = 0;
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (scanner.is(MESSAGE_TYPE)) isControl = readText(scanner) === CONTROL_MESSAGE;
    else if (scanner.is(OWNER)) texts.set('owner', readText(scanner));
    else if (scanner.is(LOG_GROUP)) texts.set('log_group', readText(scanner));
    else if (scanner.is(LOG_STREAM)) {
      scanner.string();
      streamStart = start + scanner.start;
      streamEnd = start + scanner.end;
    } else if (scanner.is(LOG_EVENTS)) yield* readEvents(scanner, columns, start);
    else scanner.skipValue();
  }
  yield* scanner.skipBlanks();
  if (scanner.peek() !== -1)
    throw new BadRequestError('the CloudWatch Logs envelope is followed by other data');
  // The event of a control message only reports that CloudWatch has checked the destination.
  if (isControl) columns.count = firstEntry;
  if (columns.count === firstEntry) return;
  const own = [...texts].map(([name, value]) => ({ name, value }));
  const labels = [...target.labels, ...own].filter(({ value }) => value !== '');
  const stream = target.streams.indexOf(
    streamOf(labelsOf(labels.map(({ name, value }) => [name, value] as const))),
  );
  columns.streamOf.fill(stream, firstEntry, columns.count);
  yield* addLogStream(columns, firstEntry, streamStart, streamEnd);
}

function readText(scanner: JsonScanner): string {
  scanner.string();
  checkLabelsSize(scanner.end - scanner.start);
  return scanner.text();
}

const TIME: Timestamp = { day: 0, timeOfDay: 0 };

/** Bytes of the envelope decoded per step: 0.2 ms. An event is never split. */
const STEP_BYTES = 32 * 1024;
const ENTRIES_A_STEP = 8192;

function* readEvents(scanner: JsonScanner, columns: PushColumns, base: number): Steps<void> {
  let before = -1;
  let same = 0;
  let stop = scanner.at + STEP_BYTES;
  scanner.enterArray();
  while (scanner.nextElement()) {
    if (scanner.at >= stop) {
      stop = scanner.at + STEP_BYTES;
      yield;
    }
    scanner.checkDense('one event');
    let ms = -1;
    let lineStart = 0;
    let lineEnd = -1;
    scanner.enterObject();
    while (scanner.nextKey()) {
      if (scanner.is(TIMESTAMP)) ms = readMs(scanner);
      else if (scanner.is(MESSAGE)) {
        scanner.string();
        lineStart = base + scanner.start;
        lineEnd = base + scanner.end;
      } else scanner.skipValue();
    }
    if (ms < 0 || lineEnd < 0)
      throw new BadRequestError('a CloudWatch Logs event needs a timestamp and a message');
    if (columns.count === MAX_PUSH_ENTRIES) throw tooMany('entries', MAX_PUSH_ENTRIES);
    same = ms === before ? Math.min(same + 1, MAX_SAME_MS - 1) : 0;
    before = ms;
    setSeconds(TIME, Math.floor(ms / 1000), (ms % 1000) * 1e6 + same);
    columns.addEntry(0, TIME.day, TIME.timeOfDay, lineStart, trimmed(columns.bytes, lineStart, lineEnd));
  }
}

/** Removes the line feed that ends a function's line and belongs to the transport. */
function trimmed(bytes: Uint8Array, start: number, end: number): number {
  let at = end;
  const least = Math.max(start, end - MAX_TRIMMED_BYTES);
  while (at > least && (bytes[at - 1] === 0x0a || bytes[at - 1] === 0x0d)) at--;
  return at;
}

function readMs(scanner: JsonScanner): number {
  const first = scanner.peek();
  const start = scanner.at;
  scanner.skipValue();
  const text = scanner.bytes.latin1Slice(start, Math.min(scanner.at, start + MAX_TIMESTAMP_DIGITS + 1));
  if (first === 0x22 || text.length > MAX_TIMESTAMP_DIGITS || !/^\d+$/.test(text)) {
    throw new BadRequestError('the timestamp of a CloudWatch Logs event is not a time in milliseconds');
  }
  return Number(text);
}

/**
 * Added last: pairs are in the order of the entries, and the name of the log stream may follow the events.
 */
function* addLogStream(columns: PushColumns, firstEntry: number, start: number, end: number): Steps<void> {
  if (end <= start) return;
  const entries = columns.count - firstEntry;
  if (columns.pairCount + entries > MAX_METADATA_PAIRS) throw tooMany('metadata pairs', MAX_METADATA_PAIRS);
  const name = columns.nameId('log_stream');
  for (let entry = firstEntry; entry < firstEntry + entries; entry++) {
    columns.firstPair[entry] = columns.pairCount;
    columns.addPair(name, start, end);
    columns.firstPair[entry + 1] = columns.pairCount;
    if (entry % ENTRIES_A_STEP === ENTRIES_A_STEP - 1) yield;
  }
}
