/**
 * Builds columns from OTLP resources, scopes and records (docs/dev/wire-format.md#resource-attributes,
 * #log-records). Both decoders call it in this order: resource, scope, records of that scope, next scope,
 * next resource.
 *
 * Pitfall: an entry is added before its attributes and completed by `endRecord`, because pairs belong to the
 * most recent entry. Read the attributes of a record between the two calls.
 */

import type { Steps } from '../../../base/model/steps.ts';
import { NS_OF_DAY } from '../../../base/model/time-units.ts';
import {
  MAX_METADATA_PAIRS,
  MAX_OTLP_METADATA_BYTES,
  MAX_OTLP_VALUE_BYTES,
  MAX_PUSH_ENTRIES,
  MAX_STREAM_PARTS,
  SHARED_PAIR_STEP_BYTES,
  tooMany,
} from '../bounds.ts';
import type { OverflowBuffer } from '../overflow-buffer.ts';
import { PushColumns } from '../push-columns.ts';
import type { DecodeContext } from '../receiver.ts';
import { checkLabelsSize, StreamTable } from '../stream-table.ts';
import { setSeconds, type Timestamp, timestampOf } from '../timestamp.ts';
import { AnyValue, MAP, setValue } from './any-value.ts';
import { type AttributeName, AttributeNames, NameBudget, nameIdOf } from './attribute-names.ts';
import type { LogRecord } from './log-record.ts';
import { otlpRules } from './rules.ts';
import { SharedPairs } from './shared-pairs.ts';
import { type LabelsByName, OtlpStreamLabels } from './stream-labels.ts';
import { ValueText } from './value-text.ts';

/** Metadata names of the record fields. */
const FIELD_NAMES = [
  'observed_timestamp',
  'severity_number',
  'severity_text',
  'dropped_attributes_count',
  'flags',
  'trace_id',
  'span_id',
  'event_name',
] as const;
const OBSERVED_TIMESTAMP = 0;
const SEVERITY_NUMBER = 1;
const SEVERITY_TEXT = 2;
const DROPPED_ATTRIBUTES_COUNT = 3;
const FLAGS = 4;
const TRACE_ID = 5;
const SPAN_ID = 6;
const EVENT_NAME = 7;

export const RESOURCE = 0;
export const SCOPE = 1;
export const RECORD = 2;
/** Owner of an attribute. */
export type AttributeOwner = typeof RESOURCE | typeof SCOPE | typeof RECORD;

/**
 * Bytes of the body decoded per step: 0.1 ms. A record, and a resource or scope without its records, is never
 * split.
 */
export const LOG_STEP_BYTES = 32 * 1024;

/** Texts of a scope as ranges of the body, and its count. */
export class LogScope {
  nameStart = 0;
  nameEnd = 0;
  versionStart = 0;
  versionEnd = 0;
  droppedAttributes = 0;
}

export class LogColumns {
  readonly columns: PushColumns;
  /** Names by level. */
  readonly names: readonly [AttributeNames, AttributeNames, AttributeNames];
  readonly #bytes: Buffer;
  readonly #overflow: OverflowBuffer;
  readonly #text: ValueText;
  readonly #streams: OtlpStreamLabels;
  readonly #severityTextAsLabel: boolean;
  readonly #now: Timestamp;
  readonly #resourcePairs = new SharedPairs();
  readonly #scopePairs = new SharedPairs();
  #resourceLabels: LabelsByName = new Map();
  readonly #recordLabels: LabelsByName = new Map();
  /** Pairs of the record from attributes named `event_name`: first and end, alternating. */
  readonly #eventPairs: number[] = [];
  /** Labels of the record from attributes named `event_name`. */
  readonly #eventLabels: LabelsByName = new Map();
  readonly #fieldIds = new Int32Array(FIELD_NAMES.length).fill(-1);
  readonly #nested = new AnyValue();
  readonly #timestamp: Timestamp = { day: 0, timeOfDay: 0 };
  /** Number of entries that came without a time. */
  #timeless = 0;
  /** Bytes of the metadata values of all entries. */
  #valueBytes = 0;
  /** Number of resources and scopes. */
  #parts = 0;
  /** Label bytes of the current resource or record. */
  #labelBytes = 0;

  /** @param overflow shared with the decoder if `sharesOverflow` is set */
  constructor(
    bytes: Buffer,
    overflow: OverflowBuffer,
    { limits, nowNs }: DecodeContext,
    sharesOverflow: boolean,
  ) {
    const rules = otlpRules(limits.otlpConfig);
    const budget = new NameBudget();
    this.#bytes = bytes;
    this.#overflow = overflow;
    this.columns = new PushColumns(bytes);
    this.names = [
      new AttributeNames(bytes, rules.resource, budget),
      new AttributeNames(bytes, rules.scope, budget),
      new AttributeNames(bytes, rules.log, budget),
    ];
    this.#text = new ValueText(bytes, overflow, sharesOverflow);
    this.#streams = new OtlpStreamLabels(new StreamTable(this.columns), limits.discoverServiceName);
    this.#severityTextAsLabel = rules.severityTextAsLabel;
    this.#now = timestampOf(nowNs);
  }

  beginResource(): void {
    this.#countPart();
    this.#labelBytes = 0;
    this.#resourcePairs.clear();
    this.#resourceLabels = new Map();
  }

  /** Ends the attributes of the resource. */
  endResource(): void {
    this.#streams.setResource(this.#resourceLabels);
  }

  beginScope(): void {
    this.#countPart();
    this.#scopePairs.clear();
  }

  #countPart(): void {
    if (++this.#parts > MAX_STREAM_PARTS) throw tooMany('resources and scopes', MAX_STREAM_PARTS);
  }

  /** Ends the attributes of the scope; its other fields follow. Texts are ranges, empty if not set. */
  endScope(
    scope: Readonly<
      Record<'nameStart' | 'nameEnd' | 'versionStart' | 'versionEnd' | 'droppedAttributes', number>
    >,
  ): void {
    const { columns } = this;
    const pairs = this.#scopePairs;
    const text = this.#text;
    if (scope.nameEnd > scope.nameStart) {
      pairs.add(columns.nameId('scope_name'), scope.nameStart, scope.nameEnd);
    }
    if (scope.versionEnd > scope.versionStart) {
      pairs.add(columns.nameId('scope_version'), scope.versionStart, scope.versionEnd);
    }
    if (scope.droppedAttributes !== 0) {
      text.ofInteger(scope.droppedAttributes);
      pairs.add(columns.nameId('scope_dropped_attributes_count'), text.start, text.end);
    }
  }

  beginRecord(): void {
    if (this.columns.count === MAX_PUSH_ENTRIES) throw tooMany('entries', MAX_PUSH_ENTRIES);
    this.columns.addEntry(0, 0, 0, 0, 0);
    this.#labelBytes = 0;
    if (this.#recordLabels.size > 0) this.#recordLabels.clear();
    if (this.#eventPairs.length > 0) this.#eventPairs.length = 0;
    if (this.#eventLabels.size > 0) this.#eventLabels.clear();
  }

  /** Cost of the pairs that each record has from its resource and scope, in bytes of a decoder step. */
  get sharedStepBytes(): number {
    return (this.#resourcePairs.count + this.#scopePairs.count) * SHARED_PAIR_STEP_BYTES;
  }

  /** Adds an attribute whose action is not `drop`. A map becomes one attribute per value in it. */
  attribute(level: AttributeOwner, name: AttributeName, value: AnyValue): void {
    if (level === RECORD && name.isEventName) {
      const first = this.columns.pairCount;
      this.#flatten(level, name, value);
      this.#eventPairs.push(first, this.columns.pairCount);
    } else this.#flatten(level, name, value);
  }

  endRecord(record: LogRecord): void {
    const { columns } = this;
    const text = this.#text;
    const entry = columns.count - 1;
    const hasTime = isSet(record.time);
    if (record.eventEnd > record.eventStart) this.#dropEventAttributes(entry);
    else if (this.#eventLabels.size > 0) {
      for (const [name, value] of this.#eventLabels) this.#recordLabels.set(name, value);
    }
    if (hasTime && isSet(record.observedTime)) {
      text.ofInstant(record.observedTime);
      this.#pair(this.#fieldId(OBSERVED_TIMESTAMP), text.start, text.end);
    }
    if (record.severityNumber !== 0) this.#numberPair(SEVERITY_NUMBER, record.severityNumber);
    this.#textPair(SEVERITY_TEXT, record.severityStart, record.severityEnd);
    if (record.droppedAttributes !== 0) this.#numberPair(DROPPED_ATTRIBUTES_COUNT, record.droppedAttributes);
    if (record.flags !== 0) this.#numberPair(FLAGS, record.flags);
    this.#textPair(TRACE_ID, record.traceStart, record.traceEnd);
    this.#textPair(SPAN_ID, record.spanStart, record.spanEnd);
    this.#textPair(EVENT_NAME, record.eventStart, record.eventEnd);
    this.#resourcePairs.copyTo(columns);
    this.#scopePairs.copyTo(columns);
    this.#countValues(this.#resourcePairs.valueBytes + this.#scopePairs.valueBytes);

    this.#setTime(entry, record);
    text.ofValue(record.body);
    columns.lineStart[entry] = text.start;
    columns.lineEnd[entry] = text.end;
    if (this.#severityTextAsLabel && record.severityEnd > record.severityStart) {
      this.#recordLabels.set('severity_text', this.#textOf(record.severityStart, record.severityEnd));
    }
    columns.streamOf[entry] =
      this.#recordLabels.size > 0 ? this.#streams.ofRecord(this.#recordLabels) : this.#streams.ofResource();
  }

  /** Returns the columns of the whole push. */
  *finish(): Steps<PushColumns> {
    this.#text.flush();
    yield* this.#overflow.appendTo(this.columns);
    return this.columns;
  }

  /** Writes bytes of the body as hex and returns the range of that text. */
  hex(start: number, end: number): Readonly<{ start: number; end: number }> {
    this.#text.ofHex(start, end);
    return this.#text;
  }

  #flatten(level: AttributeOwner, name: AttributeName, value: AnyValue): void {
    const { tree } = value;
    if (value.kind === MAP && tree?.kind === MAP) {
      for (const member of tree.members) {
        setValue(this.#nested, member.value);
        this.#flatten(level, this.names[level].member(name, member.key), this.#nested);
      }
      return;
    }
    const text = this.#text;
    text.ofValue(value);
    if (name.action === 'index_label') {
      if (level === RESOURCE) this.#resourceLabels.set(name.stored, this.#textOf(text.start, text.end));
      else {
        const labels = name.isEventName ? this.#eventLabels : this.#recordLabels;
        labels.set(name.stored, this.#textOf(text.start, text.end));
      }
      return;
    }
    const id = nameIdOf(name, this.columns);
    if (level === RECORD) this.#pair(id, text.start, text.end);
    else (level === RESOURCE ? this.#resourcePairs : this.#scopePairs).add(id, text.start, text.end);
  }

  #pair(name: number, start: number, end: number): void {
    if (this.columns.pairCount === MAX_METADATA_PAIRS) throw tooMany('metadata pairs', MAX_METADATA_PAIRS);
    this.columns.addPair(name, start, end);
    this.#countValues(end - start);
  }

  #countValues(bytes: number): void {
    this.#valueBytes += bytes;
    if (this.#valueBytes > MAX_OTLP_METADATA_BYTES)
      throw tooMany('bytes of metadata', MAX_OTLP_METADATA_BYTES);
  }

  #textPair(field: number, start: number, end: number): void {
    if (end > start) this.#pair(this.#fieldId(field), start, end);
  }

  #numberPair(field: number, value: number): void {
    this.#text.ofInteger(value);
    this.#pair(this.#fieldId(field), this.#text.start, this.#text.end);
  }

  /** Index of a field's name in the columns. Names that no record needs are not added. */
  #fieldId(field: number): number {
    if (this.#fieldIds[field] < 0) this.#fieldIds[field] = this.columns.nameId(FIELD_NAMES[field]);
    return this.#fieldIds[field];
  }

  /** Drops attributes named `event_name`, because the record field of that name is set. */
  #dropEventAttributes(entry: number): void {
    const { columns } = this;
    const eventPairs = this.#eventPairs;
    if (eventPairs.length === 0) return;
    const { pairName, pairStart, pairEnd } = columns;
    let to = eventPairs[0];
    let dropped = 0;
    for (let from = to; from < columns.pairCount; from++) {
      while (dropped < eventPairs.length && from >= eventPairs[dropped + 1]) dropped += 2;
      if (dropped < eventPairs.length && from >= eventPairs[dropped]) continue;
      pairName[to] = pairName[from];
      pairStart[to] = pairStart[from];
      pairEnd[to] = pairEnd[from];
      to++;
    }
    columns.pairCount = to;
    columns.firstPair[entry + 1] = to;
  }

  #setTime(entry: number, { time, observedTime }: LogRecord): void {
    const { columns } = this;
    const timestamp = this.#timestamp;
    const { seconds, nanos } = isSet(time) ? time : observedTime;
    if (seconds !== 0 || nanos !== 0) setSeconds(timestamp, seconds, nanos);
    else {
      // 1 ns apart, so that equal lines without a time are not deduplicated.
      const later = this.#now.timeOfDay + this.#timeless++;
      timestamp.day = this.#now.day + (later >= NS_OF_DAY ? 1 : 0);
      timestamp.timeOfDay = later >= NS_OF_DAY ? later - NS_OF_DAY : later;
    }
    columns.day[entry] = timestamp.day;
    columns.timeOfDay[entry] = timestamp.timeOfDay;
  }

  /** Returns a value as text for a label. */
  #textOf(start: number, end: number): string {
    checkLabelsSize(end - start);
    this.#labelBytes += end - start;
    if (this.#labelBytes > MAX_OTLP_VALUE_BYTES) throw tooMany('bytes of labels', MAX_OTLP_VALUE_BYTES);
    if (start < this.#bytes.length) return this.#bytes.utf8Slice(start, end);
    this.#text.flush();
    return this.#overflow.text(start, end);
  }
}

function isSet({ seconds, nanos }: { readonly seconds: number; readonly nanos: number }): boolean {
  return seconds !== 0 || nanos !== 0;
}
