/**
 * Decodes JSON pushes of the deprecated `/api/compat/push` (docs/dev/wire-format.md#older-clients): `{"streams": [{"labels":
 * "{a=\"b\"}", "entries": [{"ts": "<RFC 3339>", "line": ".."}]}]}`.
 */
import { BadRequestError } from '../../base/model/errors.ts';
import { quote } from '../../base/model/quote.ts';
import type { Steps } from '../../base/model/steps.ts';
import { MAX_PUSH_ENTRIES, STREAM_STEP_BYTES, tooMany } from './bounds.ts';
import { JsonScanner } from './json-scanner.ts';
import { PushColumns } from './push-columns.ts';
import { checkLabelsSize, StreamTable } from './stream-table.ts';
import { setRfc3339, type Timestamp } from './timestamp.ts';

const STREAMS = Buffer.from('streams');
const LABELS = Buffer.from('labels');
const ENTRIES = Buffer.from('entries');
const TS = Buffer.from('ts');
const LINE = Buffer.from('line');

/** Bytes of the body decoded per step: 0.1 ms. */
const STEP_BYTES = 32 * 1024;
/** Bytes of an invalid time that its error shows. A longer text is never a time. */
const MAX_SHOWN_BYTES = 1024;

/**
 * Decodes the columns of a push. Throws ClientError.
 *
 * Pitfall: the body is modified. Its strings are unescaped in place.
 */
export function* decodeLegacyJsonPush(bytes: Buffer): Steps<PushColumns> {
  const scanner = new JsonScanner(bytes);
  const columns = new PushColumns(bytes);
  const streams = new StreamTable(columns);
  yield* scanner.prepare();
  if (scanner.peek() < 0) throw new BadRequestError('EOF');
  let stop = STEP_BYTES;
  if (scanner.skipNull()) return columns;
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (!scanner.is(STREAMS)) scanner.skipValue();
    else if (!scanner.skipNull()) {
      scanner.enterArray();
      while (scanner.nextElement()) {
        yield* decodeStream(scanner, columns, streams);
        stop -= STREAM_STEP_BYTES;
        if (scanner.at < stop) continue;
        stop = scanner.at + STEP_BYTES;
        yield;
      }
    }
    if (scanner.at < stop) continue;
    stop = scanner.at + STEP_BYTES;
    yield;
  }
  yield* scanner.overflow.appendTo(columns);
  return columns;
}

function* decodeStream(scanner: JsonScanner, columns: PushColumns, streams: StreamTable): Steps<void> {
  const firstEntry = columns.count;
  let labels: Buffer = Buffer.alloc(0);
  let stop = scanner.at + STEP_BYTES;
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (scanner.is(LABELS)) {
      scanner.string();
      checkLabelsSize(scanner.end - scanner.start);
      labels = scanner.isInOverflow()
        ? Buffer.from(scanner.text())
        : scanner.bytes.subarray(scanner.start, scanner.end);
    } else if (!scanner.is(ENTRIES)) scanner.skipValue();
    else if (!scanner.skipNull()) {
      scanner.enterArray();
      while (scanner.nextElement()) {
        decodeEntry(scanner, columns);
        if (scanner.at < stop) continue;
        stop = scanner.at + STEP_BYTES;
        yield;
      }
    }
    if (scanner.at < stop) continue;
    stop = scanner.at + STEP_BYTES;
    yield;
  }
  columns.streamOf.fill(streams.ofText(labels, 0, labels.length), firstEntry, columns.count);
}

const TIMESTAMP: Timestamp = { day: 0, timeOfDay: 0 };

function decodeEntry(scanner: JsonScanner, columns: PushColumns): void {
  let lineStart = 0;
  let lineEnd = 0;
  TIMESTAMP.day = 0;
  TIMESTAMP.timeOfDay = 0;
  scanner.checkDense('one entry');
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (scanner.is(TS)) {
      scanner.string();
      const isShort = scanner.end - scanner.start <= MAX_SHOWN_BYTES;
      const text = isShort ? scanner.text() : '';
      if (!setRfc3339(TIMESTAMP, text)) {
        throw new BadRequestError(`parsing time ${quote(text)} as "2006-01-02T15:04:05Z07:00": cannot parse`);
      }
    } else if (scanner.is(LINE)) {
      scanner.string();
      lineStart = scanner.start;
      lineEnd = scanner.end;
    } else scanner.skipValue();
  }
  if (columns.count === MAX_PUSH_ENTRIES) throw tooMany('entries', MAX_PUSH_ENTRIES);
  columns.addEntry(0, TIMESTAMP.day, TIMESTAMP.timeOfDay, lineStart, lineEnd);
}
