/**
 * Decodes `ExportLogsServiceRequest` in protobuf directly into columns. No object represents a record or an
 * attribute, and strings stay in the body.
 *
 * Fields may come in any order, but a resource decides the stream of its records. Messages with a resource
 * (or scope) are therefore read twice: first the resource, skipping other fields by their lengths, then the
 * other fields.
 */
import { BadRequestError } from '../../../base/model/errors.ts';
import type { Steps } from '../../../base/model/steps.ts';
import { STREAM_STEP_BYTES } from '../bounds.ts';
import { OverflowBuffer } from '../overflow-buffer.ts';
import { ProtobufReader, unexpectedEnd } from '../protobuf-reader.ts';
import type { PushColumns } from '../push-columns.ts';
import type { DecodeContext } from '../receiver.ts';
import { type Instant, instantOfHalves } from './instant.ts';
import {
  type AttributeOwner,
  LOG_STEP_BYTES,
  LogColumns,
  LogScope,
  RECORD,
  RESOURCE,
  SCOPE,
} from './log-columns.ts';
import { LogRecord } from './log-record.ts';
import { ProtobufValues, skipField } from './protobuf-value.ts';

const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
/** Field names of the messages from number 1, or '' if the field is not used. */
const REQUEST_FIELDS = ['ResourceLogs'];
const RESOURCE_LOGS_FIELDS = ['Resource', 'ScopeLogs'];
const SCOPE_LOGS_FIELDS = ['Scope', 'LogRecords'];
const RESOURCE_FIELDS = ['Attributes'];
const SCOPE_FIELDS = ['Name', 'Version', 'Attributes', 'DroppedAttributesCount'];
const RECORD_FIELDS = [
  'TimeUnixNano',
  'SeverityNumber',
  'SeverityText',
  '',
  'Body',
  'Attributes',
  'DroppedAttributesCount',
  'Flags',
  'TraceId',
  'SpanId',
  'ObservedTimeUnixNano',
  'EventName',
];
// Message tags by field number. Tags of the record are next to the code that reads them.
const FIRST = 0x0a;
const SECOND = 0x12;
const THIRD = 0x1a;
const FOURTH_VARINT = 0x20;

/** Decodes the columns of a push. Throws ClientError if the bytes are not a valid request. */
export function decodeProtobufLogs(bytes: Buffer, context: DecodeContext): Steps<PushColumns> {
  return new ProtobufLogsDecoder(bytes, context).decode();
}

class ProtobufLogsDecoder {
  readonly #reader: ProtobufReader;
  readonly #logs: LogColumns;
  readonly #values: ProtobufValues;
  readonly #record = new LogRecord();
  /** Start of the current text. `range` and `id` return its end. */
  #rangeStart = 0;
  #stepStart = 0;
  readonly #scope = new LogScope();

  constructor(bytes: Buffer, context: DecodeContext) {
    this.#reader = new ProtobufReader(bytes);
    this.#logs = new LogColumns(bytes, new OverflowBuffer(bytes.length), context, false);
    this.#values = new ProtobufValues(this.#reader);
  }

  *decode(): Steps<PushColumns> {
    const reader = this.#reader;
    const { end } = reader;
    while (reader.at < end) {
      if (this.#isStepOver()) yield;
      const tag = reader.varint();
      if (tag === FIRST) {
        reader.enter();
        yield* this.#resourceLogs();
        reader.at = reader.end;
        reader.end = end;
      } else skipField(reader, tag, 'ExportLogsServiceRequest', REQUEST_FIELDS);
    }
    return yield* this.#logs.finish();
  }

  /** Checked before a field of a message that holds many. The fields after it are a new step. */
  #isStepOver(): boolean {
    const reader = this.#reader;
    const stepStart = this.#stepStart;
    reader.startFields();
    // Messages are read twice, the second time from their start.
    if (reader.at >= stepStart && reader.at < stepStart + LOG_STEP_BYTES) return false;
    this.#stepStart = reader.at;
    return true;
  }

  *#resourceLogs(): Steps<void> {
    const reader = this.#reader;
    const logs = this.#logs;
    const { at: start, end } = reader;
    logs.beginResource();
    this.#stepStart -= STREAM_STEP_BYTES;
    this.#values.begin();
    while (reader.at < end) {
      if (this.#isStepOver()) yield;
      const tag = reader.varint();
      if (tag === FIRST) {
        reader.enter();
        this.#resource();
        reader.at = reader.end;
        reader.end = end;
      } else if (tag === SECOND) reader.skip(tag);
      else skipField(reader, tag, 'ResourceLogs', RESOURCE_LOGS_FIELDS);
    }
    logs.endResource();
    reader.at = start;
    while (reader.at < end) {
      if (this.#isStepOver()) yield;
      const tag = reader.varint();
      if (tag === SECOND) {
        reader.enter();
        yield* this.#scopeLogs();
        reader.at = reader.end;
        reader.end = end;
      } else reader.skip(tag);
    }
  }

  #resource(): void {
    const reader = this.#reader;
    const { end } = reader;
    while (reader.at < end) {
      reader.countField();
      const tag = reader.varint();
      if (tag === FIRST) this.#attribute(RESOURCE, end);
      else skipField(reader, tag, 'Resource', RESOURCE_FIELDS);
    }
  }

  *#scopeLogs(): Steps<void> {
    const reader = this.#reader;
    const logs = this.#logs;
    const scope = this.#scope;
    const { at: start, end } = reader;
    logs.beginScope();
    this.#stepStart -= STREAM_STEP_BYTES;
    scope.nameEnd = scope.nameStart;
    scope.versionEnd = scope.versionStart;
    scope.droppedAttributes = 0;
    this.#values.begin();
    while (reader.at < end) {
      if (this.#isStepOver()) yield;
      const tag = reader.varint();
      if (tag === FIRST) {
        reader.enter();
        this.#readScope();
        reader.at = reader.end;
        reader.end = end;
      } else if (tag === SECOND) reader.skip(tag);
      else skipField(reader, tag, 'ScopeLogs', SCOPE_LOGS_FIELDS);
    }
    logs.endScope(scope);
    reader.at = start;
    while (reader.at < end) {
      if (this.#isStepOver()) yield;
      const tag = reader.varint();
      if (tag === SECOND) {
        reader.enter();
        this.#logRecord();
        reader.at = reader.end;
        reader.end = end;
      } else reader.skip(tag);
    }
  }

  #readScope(): void {
    const reader = this.#reader;
    const scope = this.#scope;
    const { end } = reader;
    while (reader.at < end) {
      reader.countField();
      const tag = reader.varint();
      if (tag === FIRST) {
        scope.nameEnd = this.#range();
        scope.nameStart = this.#rangeStart;
      } else if (tag === SECOND) {
        scope.versionEnd = this.#range();
        scope.versionStart = this.#rangeStart;
      } else if (tag === THIRD) this.#attribute(SCOPE, end);
      else if (tag === FOURTH_VARINT) scope.droppedAttributes = reader.varint() >>> 0;
      else skipField(reader, tag, 'InstrumentationScope', SCOPE_FIELDS);
    }
  }

  #logRecord(): void {
    const reader = this.#reader;
    const logs = this.#logs;
    const record = this.#record;
    const { end } = reader;
    record.clear();
    logs.beginRecord();
    this.#values.begin();
    while (reader.at < end) {
      reader.countField();
      const tag = reader.varint();
      switch (tag) {
        case 0x09:
          this.#instant(record.time);
          break;
        case 0x10:
          record.severityNumber = reader.varint() | 0;
          break;
        case 0x1a:
          record.severityEnd = this.#range();
          record.severityStart = this.#rangeStart;
          break;
        case 0x2a:
          reader.enter();
          this.#values.read(record.body, 0);
          reader.at = reader.end;
          reader.end = end;
          break;
        case 0x32:
          this.#attribute(RECORD, end);
          break;
        case 0x38:
          record.droppedAttributes = reader.varint() >>> 0;
          break;
        case 0x45:
          record.flags = this.#fixed32() >>> 0;
          break;
        case 0x4a:
          record.traceEnd = this.#id(TRACE_ID_BYTES, 'TraceID');
          record.traceStart = this.#rangeStart;
          break;
        case 0x52:
          record.spanEnd = this.#id(SPAN_ID_BYTES, 'SpanID');
          record.spanStart = this.#rangeStart;
          break;
        case 0x59:
          this.#instant(record.observedTime);
          break;
        case 0x62:
          record.eventEnd = this.#range();
          record.eventStart = this.#rangeStart;
          break;
        default:
          skipField(reader, tag, 'LogRecord', RECORD_FIELDS);
      }
    }
    logs.endRecord(record);
    this.#stepStart -= logs.sharedStepBytes;
  }

  /** Reads an attribute. `end` is the end of its parent message. */
  #attribute(level: AttributeOwner, end: number): void {
    const reader = this.#reader;
    reader.enter();
    const behind = reader.end;
    this.#values.attribute(this.#logs, level);
    reader.at = behind;
    reader.end = end;
  }

  #range(): number {
    const reader = this.#reader;
    const length = reader.length();
    this.#rangeStart = reader.at;
    reader.at += length;
    return reader.at;
  }

  /** Writes an ID as hex text, empty if it is missing or all zeros. Throws if it has another length. */
  #id(bytes: number, what: string): number {
    const end = this.#range();
    const start = this.#rangeStart;
    if (end === start) return end;
    if (end - start !== bytes) throw new BadRequestError(`invalid length for ${what}`);
    let any = 0;
    for (let i = start; i < end; i++) any |= this.#reader.bytes[i];
    if (any === 0) return start;
    const hex = this.#logs.hex(start, end);
    this.#rangeStart = hex.start;
    return hex.end;
  }

  #instant(into: Instant): void {
    const low = this.#fixed32();
    instantOfHalves(into, low, this.#fixed32());
  }

  /** Reads four bytes as a signed integer. */
  #fixed32(): number {
    const reader = this.#reader;
    const { bytes, at } = reader;
    if (at + 4 > reader.end) throw unexpectedEnd();
    reader.at = at + 4;
    return bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24);
  }
}
