/**
 * Decodes `ExportLogsServiceRequest` in OTLP JSON: protobuf's JSON mapping, but with IDs in hex. It decodes
 * into columns in one pass over the bytes.
 *
 * A resource decides the stream of its records. Lists that come before their resource (or scope) are skipped
 * first and decoded later. Encoders write the resource first, so this costs nothing in practice.
 *
 * Pitfall: the body is modified, because the escapes of strings are resolved in place.
 */
import { BadRequestError } from '../../../base/model/errors.ts';
import type { Steps } from '../../../base/model/steps.ts';
import { STREAM_STEP_BYTES } from '../bounds.ts';
import { JsonScanner } from '../json-scanner.ts';
import type { PushColumns } from '../push-columns.ts';
import type { DecodeContext } from '../receiver.ts';
import { JsonFields } from './json-fields.ts';
import { readId, readInstant, readSeverity, readUint32 } from './json-scalars.ts';
import { duplicateField, fieldNumber, JsonValues } from './json-value.ts';
import { LOG_STEP_BYTES, LogColumns, LogScope, RECORD, RESOURCE, SCOPE } from './log-columns.ts';
import { LogRecord } from './log-record.ts';

const REQUEST = new JsonFields(['resourceLogs']);
/** Each message lists the field that the others depend on first. */
const RESOURCE_LOGS = new JsonFields(['resource', 'scopeLogs']);
const SCOPE_LOGS = new JsonFields(['scope', 'logRecords']);
const RESOURCE_FIELDS = new JsonFields(['attributes']);
const SCOPE_FIELDS = new JsonFields(['name', 'version', 'attributes', 'droppedAttributesCount']);
const LOG_RECORD = new JsonFields([
  'timeUnixNano',
  'observedTimeUnixNano',
  'severityNumber',
  'severityText',
  'body',
  'attributes',
  'droppedAttributesCount',
  'flags',
  'traceId',
  'spanId',
  'eventName',
]);
const TRACE_ID_DIGITS = 32;
const SPAN_ID_DIGITS = 16;
/**
 * Maximum number of lists of one message that may come before the field they depend on. An encoder writes
 * one.
 */
const MAX_WAITING = 1000;

/** Decodes the columns of a push. Throws ClientError if the body is not a valid request. */
export function decodeJsonLogs(bytes: Buffer, context: DecodeContext): Steps<PushColumns> {
  return new JsonLogsDecoder(bytes, context).decode();
}

class JsonLogsDecoder {
  readonly #scanner: JsonScanner;
  readonly #logs: LogColumns;
  readonly #values: JsonValues;
  readonly #record = new LogRecord();
  #stepStart = 0;
  readonly #scope = new LogScope();

  constructor(bytes: Buffer, context: DecodeContext) {
    this.#scanner = new JsonScanner(bytes);
    this.#logs = new LogColumns(bytes, this.#scanner.overflow, context, true);
    this.#values = new JsonValues(this.#scanner);
  }

  *decode(): Steps<PushColumns> {
    const scanner = this.#scanner;
    yield* scanner.prepare();
    if (scanner.peek() < 0) throw new BadRequestError('EOF');
    // An empty request, which is refused later because it has no records.
    if (scanner.skipNull()) return yield* this.#logs.finish();
    scanner.enterObject();
    while (scanner.nextKey()) {
      if (this.#isStepOver()) yield;
      if (fieldNumber(scanner, REQUEST) < 0) scanner.skipValue();
      else yield* this.#elements(this.#resourceLogs);
    }
    return yield* this.#logs.finish();
  }

  #isStepOver(): boolean {
    const scanner = this.#scanner;
    const stepStart = this.#stepStart;
    // Deferred lists are decoded after the fields that follow them.
    if (scanner.at >= stepStart && scanner.at < stepStart + LOG_STEP_BYTES) return false;
    this.#stepStart = scanner.at;
    return true;
  }

  /** Reads an array with a callback per element, skipping nulls. */
  *#elements(read: () => Steps<void> | undefined): Steps<void> {
    const scanner = this.#scanner;
    if (scanner.skipNull()) return;
    scanner.enterArray();
    while (scanner.nextElement()) {
      if (this.#isStepOver()) yield;
      if (scanner.skipNull()) continue;
      const steps = read.call(this);
      if (steps !== undefined) yield* steps;
    }
  }

  #resourceLogs(): Steps<void> {
    const logs = this.#logs;
    logs.beginResource();
    this.#stepStart -= STREAM_STEP_BYTES;
    this.#values.begin();
    return this.#headThenList(
      'resource',
      RESOURCE_LOGS,
      this.#resource,
      () => logs.endResource(),
      this.#scopeLogs,
    );
  }

  #scopeLogs(): Steps<void> {
    const logs = this.#logs;
    const scope = this.#scope;
    logs.beginScope();
    this.#stepStart -= STREAM_STEP_BYTES;
    scope.nameEnd = scope.nameStart;
    scope.versionEnd = scope.versionStart;
    scope.droppedAttributes = 0;
    this.#values.begin();
    return this.#headThenList(
      'scope',
      SCOPE_LOGS,
      this.#readScope,
      () => logs.endScope(scope),
      this.#logRecord,
    );
  }

  /** Reads a message of a head and a list, in either order: first the head, then `done`, then the list. */
  *#headThenList(
    headName: string,
    fields: JsonFields,
    readHead: () => void,
    done: () => void,
    readElement: () => Steps<void> | undefined,
  ): Steps<void> {
    const scanner = this.#scanner;
    const waiting: number[] = [];
    let hasHead = false;
    let isDone = false;
    scanner.enterObject();
    while (scanner.nextKey()) {
      if (this.#isStepOver()) yield;
      const field = fieldNumber(scanner, fields);
      if (field < 0) scanner.skipValue();
      else if (scanner.skipNull()) continue;
      else if (field === 0) {
        if (hasHead) throw duplicateField(headName);
        hasHead = true;
        readHead.call(this);
      } else if (hasHead) {
        if (!isDone) done();
        isDone = true;
        yield* this.#elements(readElement);
      } else {
        if (waiting.length === MAX_WAITING) throw duplicateField(headName);
        waiting.push(scanner.at);
        scanner.skipValue();
      }
    }
    if (!isDone) done();
    const behind = scanner.at;
    for (const at of waiting) {
      scanner.at = at;
      yield* this.#elements(readElement);
    }
    scanner.at = behind;
  }

  #resource(): void {
    const scanner = this.#scanner;
    scanner.checkDense('one resource');
    scanner.enterObject();
    while (scanner.nextKey()) {
      if (fieldNumber(scanner, RESOURCE_FIELDS) < 0) scanner.skipValue();
      else if (!scanner.skipNull()) this.#values.attributes(this.#logs, RESOURCE);
    }
  }

  #readScope(): void {
    const scanner = this.#scanner;
    const scope = this.#scope;
    scanner.checkDense('one scope');
    scanner.enterObject();
    while (scanner.nextKey()) {
      const field = fieldNumber(scanner, SCOPE_FIELDS);
      if (field < 0) scanner.skipValue();
      else if (scanner.skipNull()) continue;
      else if (field === 0) {
        scanner.string();
        scope.nameStart = scanner.start;
        scope.nameEnd = scanner.end;
      } else if (field === 1) {
        scanner.string();
        scope.versionStart = scanner.start;
        scope.versionEnd = scanner.end;
      } else if (field === 2) this.#values.attributes(this.#logs, SCOPE);
      else scope.droppedAttributes = readUint32(scanner);
    }
  }

  #logRecord(): undefined {
    const scanner = this.#scanner;
    const logs = this.#logs;
    const record = this.#record;
    record.clear();
    logs.beginRecord();
    this.#values.begin();
    scanner.checkDense('one record');
    scanner.enterObject();
    while (scanner.nextKey()) {
      const field = fieldNumber(scanner, LOG_RECORD);
      if (field < 0) scanner.skipValue();
      else if (!scanner.skipNull()) this.#recordField(field);
    }
    logs.endRecord(record);
    this.#stepStart -= logs.sharedStepBytes;
  }

  #recordField(field: number): void {
    const scanner = this.#scanner;
    const record = this.#record;
    switch (field) {
      case 0:
        readInstant(scanner, record.time);
        break;
      case 1:
        readInstant(scanner, record.observedTime);
        break;
      case 2:
        record.severityNumber = readSeverity(scanner);
        break;
      case 3:
        scanner.string();
        record.severityStart = scanner.start;
        record.severityEnd = scanner.end;
        break;
      case 4:
        this.#values.read(record.body, 0);
        break;
      case 5:
        this.#values.attributes(this.#logs, RECORD);
        break;
      case 6:
        record.droppedAttributes = readUint32(scanner);
        break;
      case 7:
        record.flags = readUint32(scanner);
        break;
      case 8:
        readId(scanner, TRACE_ID_DIGITS, 'TraceID');
        record.traceStart = scanner.start;
        record.traceEnd = scanner.end;
        break;
      case 9:
        readId(scanner, SPAN_ID_DIGITS, 'SpanID');
        record.spanStart = scanner.start;
        record.spanEnd = scanner.end;
        break;
      default:
        scanner.string();
        record.eventStart = scanner.start;
        record.eventEnd = scanner.end;
    }
  }
}
