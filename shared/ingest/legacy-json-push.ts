/**
 * The JSON pushes of the deprecated `/api/compat/push` (wire-format 8):
 * `{"streams": [{"labels": "{a=\"b\"}", "entries": [{"ts": "<RFC 3339>", "line": ".."}]}]}`.
 */
import { BadRequestError } from '../model/errors.ts';
import { quote } from '../model/quote.ts';
import { MAX_ENTRIES, tooMany } from './bounds.ts';
import { JsonScanner } from './json-scanner.ts';
import { PushColumns } from './push-columns.ts';
import { StreamTable } from './stream-table.ts';
import { parseRfc3339, type Timestamp } from './timestamp.ts';

const STREAMS = Buffer.from('streams');
const LABELS = Buffer.from('labels');
const ENTRIES = Buffer.from('entries');
const TS = Buffer.from('ts');
const LINE = Buffer.from('line');

/** The columns of a push; the body's strings are unescaped in place. Throws ClientError. */
export function decodeLegacyJsonPush(bytes: Buffer): PushColumns {
  const scanner = new JsonScanner(bytes);
  const columns = new PushColumns(bytes);
  const streams = new StreamTable(columns);
  if (scanner.peek() < 0) throw new BadRequestError('EOF');
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (!scanner.is(STREAMS)) scanner.skipValue();
    else if (!scanner.skipNull()) {
      scanner.enterArray();
      while (scanner.nextElement()) decodeStream(scanner, columns, streams);
    }
  }
  scanner.spill.appendTo(columns);
  return columns;
}

function decodeStream(scanner: JsonScanner, columns: PushColumns, streams: StreamTable): void {
  const firstEntry = columns.count;
  let labels: Buffer = Buffer.alloc(0);
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (scanner.is(LABELS)) {
      scanner.string();
      labels = scanner.isSpilled()
        ? Buffer.from(scanner.text())
        : scanner.bytes.subarray(scanner.start, scanner.end);
    } else if (!scanner.is(ENTRIES)) scanner.skipValue();
    else if (!scanner.skipNull()) {
      scanner.enterArray();
      while (scanner.nextElement()) decodeEntry(scanner, columns);
    }
  }
  columns.streamOf.fill(streams.ofText(labels, 0, labels.length), firstEntry, columns.count);
}

const timestamp: Timestamp = { day: 0, timeOfDay: 0 };

function decodeEntry(scanner: JsonScanner, columns: PushColumns): void {
  let lineStart = 0;
  let lineEnd = 0;
  timestamp.day = 0;
  timestamp.timeOfDay = 0;
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (scanner.is(TS)) {
      scanner.string();
      const text = scanner.text();
      if (!parseRfc3339(timestamp, text)) {
        throw new BadRequestError(`parsing time ${quote(text)} as "2006-01-02T15:04:05Z07:00": cannot parse`);
      }
    } else if (scanner.is(LINE)) {
      scanner.string();
      lineStart = scanner.start;
      lineEnd = scanner.end;
    } else scanner.skipValue();
  }
  if (columns.count === MAX_ENTRIES) throw tooMany('entries', MAX_ENTRIES);
  columns.addEntry(0, timestamp.day, timestamp.timeOfDay, lineStart, lineEnd);
}
