/**
 * From resources, scopes and records of OTLP to columns (docs/dev/wire-format.md#otlp); both decoders feed it, in the order
 * resource, scope, records of that scope, next scope, next resource.
 *
 * What a reader would get wrong: an entry is added before its attributes come and completed by `endRecord`, because
 * pairs belong to the newest entry. Whatever is read of a record that has attributes belongs between the two.
 */

import type { Steps } from '../../../base/model/steps.ts';
import { NS_OF_DAY } from '../../../base/model/time-units.ts';
import {
  MAX_ENTRIES,
  MAX_METADATA_PAIRS,
  MAX_OTLP_METADATA_BYTES,
  MAX_OTLP_VALUE_BYTES,
  MAX_STREAM_PARTS,
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
import { type LabelMap, StreamLabels } from './stream-labels.ts';
import { ValueText } from './value-text.ts';

/** Metadata that fields of a record become. */
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
/** Whose attribute it is. */
export type Level = typeof RESOURCE | typeof SCOPE | typeof RECORD;

export class LogColumns {
  readonly columns: PushColumns;
  /** By level. */
  readonly names: readonly [AttributeNames, AttributeNames, AttributeNames];
  readonly #bytes: Buffer;
  readonly #spill: OverflowBuffer;
  readonly #text: ValueText;
  readonly #streams: StreamLabels;
  readonly #severityTextAsLabel: boolean;
  readonly #now: Timestamp;
  readonly #resourcePairs = new SharedPairs();
  readonly #scopePairs = new SharedPairs();
  #resourceLabels: LabelMap = new Map();
  readonly #recordLabels: LabelMap = new Map();
  /** Pairs of the record that came from attributes named `event_name`: first and end, alternating. */
  readonly #eventPairs: number[] = [];
  /** Labels of the record that came from such attributes. */
  readonly #eventLabels: LabelMap = new Map();
  readonly #fieldIds = new Int32Array(FIELD_NAMES.length).fill(-1);
  readonly #nested = new AnyValue();
  readonly #timestamp: Timestamp = { day: 0, timeOfDay: 0 };
  /** Entries that came without any time. */
  #timeless = 0;
  /** Bytes of the metadata values of all entries. */
  #valueBytes = 0;
  /** Resources and scopes. */
  #parts = 0;
  /** Bytes of labels of the resource or record at hand. */
  #labelBytes = 0;

  /** @param spill with `sharesSpill` the decoder spills into it too */
  constructor(bytes: Buffer, spill: OverflowBuffer, { limits, nowNs }: DecodeContext, sharesSpill: boolean) {
    const rules = otlpRules(limits.otlpConfig);
    const budget = new NameBudget();
    this.#bytes = bytes;
    this.#spill = spill;
    this.columns = new PushColumns(bytes);
    this.names = [
      new AttributeNames(bytes, rules.resource, budget),
      new AttributeNames(bytes, rules.scope, budget),
      new AttributeNames(bytes, rules.log, budget),
    ];
    this.#text = new ValueText(bytes, spill, sharesSpill);
    this.#streams = new StreamLabels(new StreamTable(this.columns), limits.discoverServiceName);
    this.#severityTextAsLabel = rules.severityTextAsLabel;
    this.#now = timestampOf(nowNs);
  }

  beginResource(): void {
    this.#countPart();
    this.#labelBytes = 0;
    this.#resourcePairs.clear();
    this.#resourceLabels = new Map();
  }

  /** All attributes of the resource have come. */
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

  /** All attributes of the scope have come; its other fields follow them. Texts are ranges, empty where not set. */
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
    if (this.columns.count === MAX_ENTRIES) throw tooMany('entries', MAX_ENTRIES);
    this.columns.addEntry(0, 0, 0, 0, 0);
    this.#labelBytes = 0;
    if (this.#recordLabels.size > 0) this.#recordLabels.clear();
    if (this.#eventPairs.length > 0) this.#eventPairs.length = 0;
    if (this.#eventLabels.size > 0) this.#eventLabels.clear();
  }

  /** An attribute whose action is not `drop`. Maps become one attribute for each value in them. */
  attribute(level: Level, name: AttributeName, value: AnyValue): void {
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

  /** The columns of the whole push. */
  *finish(): Steps<PushColumns> {
    this.#text.flush();
    yield* this.#spill.appendTo(this.columns);
    return this.columns;
  }

  /** Hex of bytes of the body; its range is then that of the newest text. */
  hex(start: number, end: number): Readonly<{ start: number; end: number }> {
    this.#text.ofHex(start, end);
    return this.#text;
  }

  #flatten(level: Level, name: AttributeName, value: AnyValue): void {
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

  /** Place of a field's name in the columns; names that no record needs are not among them. */
  #fieldId(field: number): number {
    if (this.#fieldIds[field] < 0) this.#fieldIds[field] = this.columns.nameId(FIELD_NAMES[field]);
    return this.#fieldIds[field];
  }

  /** The field `event_name` is set: attributes of that name give way to it. */
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
      // A nanosecond apart, so that equal lines without a time stay as many as they were.
      const later = this.#now.timeOfDay + this.#timeless++;
      timestamp.day = this.#now.day + (later >= NS_OF_DAY ? 1 : 0);
      timestamp.timeOfDay = later >= NS_OF_DAY ? later - NS_OF_DAY : later;
    }
    columns.day[entry] = timestamp.day;
    columns.timeOfDay[entry] = timestamp.timeOfDay;
  }

  /** A value as text, for a label. */
  #textOf(start: number, end: number): string {
    checkLabelsSize(end - start);
    this.#labelBytes += end - start;
    if (this.#labelBytes > MAX_OTLP_VALUE_BYTES) throw tooMany('bytes of labels', MAX_OTLP_VALUE_BYTES);
    if (start < this.#bytes.length) return this.#bytes.utf8Slice(start, end);
    this.#text.flush();
    return this.#spill.text(start, end);
  }
}

function isSet({ seconds, nanos }: { readonly seconds: number; readonly nanos: number }): boolean {
  return seconds !== 0 || nanos !== 0;
}
