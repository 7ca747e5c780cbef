/**
 * Decodes protobuf pushes (docs/dev/wire-format.md#protobuf) directly into columns. Lines and metadata values stay in the
 * body. Lines keep their bytes unchanged; only names and labels become strings.
 *
 * Fields may come in any order and repeatedly (the last scalar is used). An entry is therefore added empty
 * before its fields are read, and the stream of its entries is set after the whole stream message.
 */
import { BadRequestError } from '../../base/model/errors.ts';
import type { Steps } from '../../base/model/steps.ts';
import { MAX_METADATA_PAIRS, MAX_PUSH_ENTRIES, STREAM_STEP_BYTES, tooMany } from './bounds.ts';
import { NameTable } from './name-table.ts';
import { illegalTag, ProtobufReader, wrongWireType } from './protobuf-reader.ts';
import { PushColumns } from './push-columns.ts';
import { StreamTable } from './stream-table.ts';
import { setSeconds, type Timestamp } from './timestamp.ts';

// Tags: field number and wire type 2 (length-delimited) or 0 (varint).
const FIRST_MESSAGE = 0x0a;
const SECOND_MESSAGE = 0x12;
const THIRD_MESSAGE = 0x1a;
const FIRST_VARINT = 0x08;
const SECOND_VARINT = 0x10;

/** 0001-01-01T00:00:00Z and 10000-01-01T00:00:00Z, the range of a protobuf timestamp. */
const MIN_SECONDS = -62_135_596_800;
const END_SECONDS = 253_402_300_800;

/** Bytes of the body decoded per step: 0.1 ms. An entry is never split. */
const STEP_BYTES = 32 * 1024;

/**
 * Decodes the columns of a push. Throws ClientError if the bytes are not a valid push or its labels are
 * invalid.
 */
export function* decodeProtobufPush(bytes: Buffer): Steps<PushColumns> {
  const columns = new PushColumns(bytes);
  const streams = new StreamTable(columns);
  const names = new NameTable(columns);
  const reader = new ProtobufReader(bytes);
  const end = bytes.length;
  let stop = STEP_BYTES;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === FIRST_MESSAGE) {
      reader.enter();
      yield* decodeStream(reader, columns, streams, names);
      stop -= STREAM_STEP_BYTES;
      reader.at = reader.end;
      reader.end = end;
    } else {
      reader.startFields();
      skipField(reader, tag, 'PushRequest', 'Streams');
    }
    if (reader.at < stop) continue;
    stop = reader.at + STEP_BYTES;
    yield;
  }
  return columns;
}

function* decodeStream(
  reader: ProtobufReader,
  columns: PushColumns,
  streams: StreamTable,
  names: NameTable,
): Steps<void> {
  const end = reader.end;
  const firstEntry = columns.count;
  let labelsStart = 0;
  let labelsEnd = 0;
  let stop = reader.at + STEP_BYTES;
  while (reader.at < end) {
    const tag = reader.varint();
    if (tag === SECOND_MESSAGE) {
      reader.enter();
      decodeEntry(reader, columns, names);
      reader.at = reader.end;
      reader.end = end;
    } else if (tag === FIRST_MESSAGE) {
      const length = reader.length();
      labelsStart = reader.at;
      labelsEnd = labelsStart + length;
      reader.at = labelsEnd;
    } else {
      reader.startFields();
      skipField(reader, tag, 'StreamAdapter', 'Labels', 'Entries');
    }
    if (reader.at < stop) continue;
    stop = reader.at + STEP_BYTES;
    yield;
  }
  const stream = streams.ofText(reader.bytes, labelsStart, labelsEnd);
  columns.streamOf.fill(stream, firstEntry, columns.count);
}

const TIMESTAMP: Timestamp = { day: 0, timeOfDay: 0 };

function decodeEntry(reader: ProtobufReader, columns: PushColumns, names: NameTable): void {
  const end = reader.end;
  const entry = columns.count;
  if (entry === MAX_PUSH_ENTRIES) throw tooMany('entries', MAX_PUSH_ENTRIES);
  let lineStart = 0;
  let lineEnd = 0;
  columns.addEntry(0, 0, 0, 0, 0);
  TIMESTAMP.day = 0;
  TIMESTAMP.timeOfDay = 0;
  reader.startFields();
  while (reader.at < end) {
    reader.countField();
    const tag = reader.varint();
    if (tag === FIRST_MESSAGE) {
      reader.enter();
      decodeTimestamp(reader);
      reader.at = reader.end;
      reader.end = end;
    } else if (tag === SECOND_MESSAGE) {
      const length = reader.length();
      lineStart = reader.at;
      lineEnd = lineStart + length;
      reader.at = lineEnd;
    } else if (tag === THIRD_MESSAGE) {
      reader.enter();
      decodePair(reader, columns, names);
      reader.at = reader.end;
      reader.end = end;
    } else {
      skipField(reader, tag, 'EntryAdapter', 'Timestamp', 'Line', 'StructuredMetadata');
    }
  }
  columns.day[entry] = TIMESTAMP.day;
  columns.timeOfDay[entry] = TIMESTAMP.timeOfDay;
  columns.lineStart[entry] = lineStart;
  columns.lineEnd[entry] = lineEnd;
}

function decodeTimestamp(reader: ProtobufReader): void {
  let seconds = 0;
  let nanos = 0;
  while (reader.at < reader.end) {
    reader.countField();
    const tag = reader.varint();
    if (tag === FIRST_VARINT) seconds = reader.varint();
    else if (tag === SECOND_VARINT) nanos = reader.varint();
    else skipField(reader, tag, 'Timestamp', 'Seconds', 'Nanos');
  }
  if (seconds < MIN_SECONDS) throw new BadRequestError(`timestamp: seconds ${seconds} before 0001-01-01`);
  if (seconds >= END_SECONDS) throw new BadRequestError(`timestamp: seconds ${seconds} after 10000-01-01`);
  if (nanos < 0 || nanos >= 1e9) throw new BadRequestError(`timestamp: nanos ${nanos} not in range [0, 1e9)`);
  setSeconds(TIMESTAMP, seconds, nanos);
}

function decodePair(reader: ProtobufReader, columns: PushColumns, names: NameTable): void {
  let nameStart = 0;
  let nameEnd = 0;
  let valueStart = 0;
  let valueEnd = 0;
  while (reader.at < reader.end) {
    reader.countField();
    const tag = reader.varint();
    if (tag === FIRST_MESSAGE) {
      const length = reader.length();
      nameStart = reader.at;
      nameEnd = nameStart + length;
      reader.at = nameEnd;
    } else if (tag === SECOND_MESSAGE) {
      const length = reader.length();
      valueStart = reader.at;
      valueEnd = valueStart + length;
      reader.at = valueEnd;
    } else {
      skipField(reader, tag, 'LabelPairAdapter', 'Name', 'Value');
    }
  }
  if (columns.pairCount === MAX_METADATA_PAIRS) throw tooMany('metadata pairs', MAX_METADATA_PAIRS);
  reader.countBytes(nameEnd - nameStart);
  columns.addPair(names.idOf(nameStart, nameEnd), valueStart, valueEnd);
}

/** Skips an unknown field. `fields` are the known names from number 1, or '' if any wire type is accepted. */
function skipField(reader: ProtobufReader, tag: number, message: string, ...fields: string[]): void {
  const number = Math.floor(tag / 8);
  if (number <= 0 || tag % 8 === 4) throw illegalTag(message, tag);
  const known = fields[number - 1] ?? '';
  if (known !== '') throw wrongWireType(tag, known);
  reader.skip(tag);
}
