/**
 * Decodes JSON pushes (docs/dev/wire-format.md#json): `{"streams": [{"stream": {..}, "values": [["<ns>", "line", {..}],
 * ..]}]}`. It takes one pass over the bytes into columns, and lines stay in the body. Errors have the
 * reference's inner texts.
 */
import { copyBytes } from '../../base/model/copy-bytes.ts';
import { BadRequestError } from '../../base/model/errors.ts';
import { type Label, labelsOf } from '../../base/model/labels.ts';
import { quote } from '../../base/model/quote.ts';
import type { Steps } from '../../base/model/steps.ts';
import {
  MAX_LABELS_OF_STREAM,
  MAX_METADATA_PAIRS,
  MAX_PUSH_ENTRIES,
  STREAM_STEP_BYTES,
  tooMany,
} from './bounds.ts';
import { JsonScanner } from './json-scanner.ts';
import { MALFORMED_OBJECT, MALFORMED_STRING, MALFORMED_VALUE, OVERFLOW } from './json-syntax.ts';
import { parseLabelSet } from './label-set.ts';
import { checkNameSize, NameTable } from './name-table.ts';
import { PushColumns, type PushStream } from './push-columns.ts';
import { StreamCache } from './stream-cache.ts';
import { checkLabelsSize, StreamTable, streamOf } from './stream-table.ts';
import { parseNanoseconds, type Timestamp, USUAL_DIGITS } from './timestamp.ts';

const STREAMS = Buffer.from('streams');
const STREAM = Buffer.from('stream');
const VALUES = Buffer.from('values');
const LABEL_NAME = /^[a-zA-Z_][a-zA-Z0-9_]*$/;

const objectCache = new StreamCache();

/** Bytes of the body decoded per step: 0.1 ms. An entry is never split. */
const STEP_BYTES = 32 * 1024;

/**
 * Decodes the columns of a push. Bytes after the first JSON value are ignored. Throws ClientError.
 *
 * Pitfall: the body is modified. Its strings are unescaped in place.
 */
export function* decodeJsonPush(bytes: Buffer): Steps<PushColumns> {
  const scanner = new JsonScanner(bytes, true);
  try {
    return yield* decode(scanner, bytes);
  } finally {
    scanner.close();
  }
}

function* decode(scanner: JsonScanner, bytes: Buffer): Steps<PushColumns> {
  yield* scanner.prepare();
  const columns = new PushColumns(scanner.bytes);
  if (scanner.peek() < 0) throw new BadRequestError('EOF');
  const decoder: JsonPushDecoder = {
    scanner,
    columns,
    streams: new StreamTable(columns),
    names: new NameTable(columns),
  };
  let stop = STEP_BYTES;
  // An empty push, which is refused later because it has no stream.
  if (scanner.skipNull()) return columns;
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (!scanner.is(STREAMS)) scanner.skipValue();
    else if (!scanner.skipNull()) {
      scanner.enterArray();
      while (scanner.nextElement()) {
        yield* decodeStream(decoder);
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
  if (scanner.bytes !== bytes) {
    copyBytes(scanner.bytes, bytes, 0);
    columns.bytes = bytes;
  }
  yield* scanner.overflow.appendTo(columns);
  return columns;
}

interface JsonPushDecoder {
  readonly scanner: JsonScanner;
  readonly columns: PushColumns;
  readonly streams: StreamTable;
  readonly names: NameTable;
}

function* decodeStream(decoder: JsonPushDecoder): Steps<void> {
  const { scanner, columns, streams } = decoder;
  const firstEntry = columns.count;
  let labelsStart = 0;
  let labelsEnd = 0;
  // Set only if the key `stream` is repeated: the objects are merged.
  let earlier: Map<string, string> | undefined;
  let stop = scanner.at + STEP_BYTES;
  scanner.enterObject();
  while (scanner.nextKey()) {
    if (scanner.is(STREAM)) {
      if (scanner.peek() !== 0x7b) throw new BadRequestError(MALFORMED_OBJECT);
      if (labelsEnd > 0) {
        earlier ??= new Map();
        checkLabelsSize(labelsEnd - labelsStart);
        readLabels(decoder, labelsStart, earlier);
      }
      labelsStart = scanner.at;
      scanner.skipValue();
      labelsEnd = scanner.at;
    } else if (scanner.is(VALUES)) yield* decodeValues(decoder);
    else scanner.skipValue();
    if (scanner.at < stop) continue;
    stop = scanner.at + STEP_BYTES;
    yield;
  }
  const stream = labelsEnd === 0 ? streamOf([]) : streamOfObject(decoder, labelsStart, labelsEnd, earlier);
  columns.streamOf.fill(streams.indexOf(stream), firstEntry, columns.count);
}

function* decodeValues(decoder: JsonPushDecoder): Steps<void> {
  const { scanner } = decoder;
  if (scanner.skipNull()) return;
  let stop = scanner.at + STEP_BYTES;
  scanner.enterArray();
  while (scanner.nextElement()) {
    if (!scanner.skipNull()) decodeEntry(decoder);
    if (scanner.at < stop) continue;
    stop = scanner.at + STEP_BYTES;
    yield;
  }
}

const TIMESTAMP: Timestamp = { day: 0, timeOfDay: 0 };

function decodeEntry({ scanner, columns, names }: JsonPushDecoder): void {
  scanner.checkDense('one entry');
  scanner.enterArray();
  if (!scanner.nextElement()) throw new BadRequestError(MALFORMED_STRING);
  const free = decodeTime(scanner);
  if (columns.count === MAX_PUSH_ENTRIES) throw tooMany('entries', MAX_PUSH_ENTRIES);
  if (!scanner.nextElement()) {
    // A missing line is empty, as in the reference.
    columns.addEntry(0, TIMESTAMP.day, TIMESTAMP.timeOfDay, 0, 0);
    return;
  }
  scanner.longString(free);
  columns.addEntry(0, TIMESTAMP.day, TIMESTAMP.timeOfDay, scanner.start, scanner.end);
  if (!scanner.nextElement()) return;
  scanner.enterObject();
  while (scanner.nextKey()) {
    checkNameSize(scanner.end - scanner.start);
    const name = scanner.isInOverflow()
      ? names.idOfText(scanner.text())
      : names.idOf(scanner.start, scanner.end);
    if (columns.pairCount === MAX_METADATA_PAIRS) throw tooMany('metadata pairs', MAX_METADATA_PAIRS);
    scanner.string();
    columns.addPair(name, scanner.start, scanner.end);
  }
  while (scanner.nextElement()) scanner.skipValue();
}

/** Reads a time and returns the start of its text, which the line may overwrite. */
function decodeTime(scanner: JsonScanner): number {
  const start = scanner.textOfLength(USUAL_DIGITS);
  if (start >= 0 && parseNanoseconds(TIMESTAMP, scanner.bytes, start, start + USUAL_DIGITS) === 'ok') {
    scanner.take(start, start + USUAL_DIGITS);
    return start;
  }
  scanner.string();
  const result = scanner.isInOverflow()
    ? 'malformed'
    : parseNanoseconds(TIMESTAMP, scanner.bytes, scanner.start, scanner.end);
  if (result !== 'ok') throw new BadRequestError(result === 'overflow' ? OVERFLOW : MALFORMED_VALUE);
  return scanner.start;
}

/** Returns the stream of the JSON object at `[start, end)`, combined with the labels of earlier objects. */
function streamOfObject(
  decoder: JsonPushDecoder,
  start: number,
  end: number,
  earlier: Map<string, string> | undefined,
): PushStream {
  checkLabelsSize(end - start);
  if (earlier !== undefined) return streamOf(checkedLabels(readLabels(decoder, start, earlier)));
  // Computed before the object is read, because reading unescapes in place.
  const key = decoder.scanner.bytes.latin1Slice(start, end);
  const known = objectCache.get(key);
  if (known !== undefined) return known;
  const stream = streamOf(checkedLabels(readLabels(decoder, start, new Map())));
  if (decoder.streams.isRemembering) objectCache.set(key, stream);
  return stream;
}

/**
 * Reads the object at `start` into a map. The last of equal names is used, and a value that is not a string
 * is stored as raw text.
 */
function readLabels(
  { scanner }: JsonPushDecoder,
  start: number,
  into: Map<string, string>,
): Map<string, string> {
  const back = scanner.at;
  scanner.at = start;
  scanner.enterObject();
  while (scanner.nextKey()) {
    const name = scanner.text();
    if (scanner.peek() === 0x22) {
      scanner.string();
      into.set(name, scanner.text());
    } else {
      const valueStart = scanner.at;
      scanner.skipValue();
      into.set(name, scanner.bytes.utf8Slice(valueStart, scanner.at));
    }
    if (into.size > MAX_LABELS_OF_STREAM) {
      throw new BadRequestError(`couldn't parse labels: more than ${MAX_LABELS_OF_STREAM} labels`);
    }
  }
  scanner.at = back;
  return into;
}

/** Returns the labels. An invalid name fails as in label-set text, which is how the reference reads it. */
function checkedLabels(labels: Map<string, string>): readonly Label[] {
  const sorted = labelsOf(labels);
  for (const { name } of sorted) {
    if (!LABEL_NAME.test(name)) {
      return parseLabelSet(`{${sorted.map(label => `${label.name}=${quote(label.value)}`).join(', ')}}`);
    }
  }
  return sorted.filter(label => label.value !== '');
}
