/**
 * Converts documents to entries: one JSON object becomes a time, a line, the labels of its stream and
 * structured metadata.
 *
 *     {"@timestamp": .., "message": "text", "service": {"name": "shop"}, "http": {"status": 500}}
 *      time               line               label service_name          metadata http_status
 *
 * A document without a message becomes the line unchanged. So does a document whose fields exceed the limits
 * of structured metadata. It is never refused for having too many fields, and `| json` finds them in the
 * line.
 */
import { type Label, labelsOf } from '../../../base/model/labels.ts';
import type { Steps } from '../../../base/model/steps.ts';
import { MAX_DENSE_BYTES, MAX_METADATA_PAIRS, MAX_PUSH_ENTRIES, MAX_STREAMS, tooMany } from '../bounds.ts';
import { JsonScanner } from '../json-scanner.ts';
import { sanitizeMetadataName } from '../metadata-name.ts';
import type { PushColumns } from '../push-columns.ts';
import type { DecodeContext } from '../receiver.ts';
import { StreamTable, streamOf } from '../stream-table.ts';
import { type Timestamp, timestampOf } from '../timestamp.ts';
import { DocumentFields, Kind } from './document-fields.ts';
import type { FieldOptions } from './field-options.ts';
import { FieldPaths, FieldRole, unescaped } from './field-paths.ts';
import { addNanoseconds, readTime } from './time-value.ts';

export type DocumentFailure = 'no-object' | 'bad-time' | 'too-long';
/** Maximum size of a document, which is read in a single step. */
export const MAX_DOCUMENT_BYTES = MAX_DENSE_BYTES;

const NONE = -1;

interface ExtraPair {
  readonly name: number;
  readonly start: number;
  readonly end: number;
}

/** Adds documents of one body to columns over the same body. */
export class DocumentEntries {
  readonly #columns: PushColumns;
  readonly #options: FieldOptions;
  readonly #context: DecodeContext;
  readonly #paths: FieldPaths;
  readonly #fields: DocumentFields;
  /** Streams of the columns, for entries that are not documents. */
  readonly streams: StreamTable;
  readonly #json: JsonScanner;
  readonly #streamOfKey = new Map<string, number>();
  /** Index of the metadata name of each path, plus 1. */
  #nameOfPath = new Uint32Array(64);
  readonly #now: Timestamp;
  /**
   * Number of entries without a time. Each is 1 ns after the one before, so their order is kept and none is a
   * duplicate.
   */
  #withoutTime = 0;
  readonly #time: Timestamp = { day: 0, timeOfDay: 0 };
  readonly #extra: readonly ExtraPair[];
  readonly #extraBytes: number;

  /** Appends values of `extraMetadata` to the body. Only then its bytes are copied. */
  static *over(columns: PushColumns, options: FieldOptions, context: DecodeContext): Steps<DocumentEntries> {
    const extra: ExtraPair[] = [];
    if (options.extraMetadata.length > 0) {
      const values = options.extraMetadata.map(({ value }) => Buffer.from(value));
      let at = yield* columns.append(Buffer.concat(values));
      for (let i = 0; i < values.length; i++) {
        const name = columns.nameId(options.extraMetadata[i].name);
        extra.push({ name, start: at, end: at + values[i].length });
        at += values[i].length;
      }
    }
    return new DocumentEntries(columns, options, context, extra);
  }

  /** Requires the final bytes of the columns: everything after this refers to them and unescapes there. */
  private constructor(
    columns: PushColumns,
    options: FieldOptions,
    context: DecodeContext,
    extra: readonly ExtraPair[],
  ) {
    this.#columns = columns;
    this.#options = options;
    this.#context = context;
    this.#extra = extra;
    this.#paths = new FieldPaths(columns.bytes, options);
    this.#fields = new DocumentFields(columns.bytes, this.#paths);
    this.streams = new StreamTable(columns);
    this.#json = new JsonScanner(columns.bytes);
    this.#now = timestampOf(context.nowNs);
    this.#extraBytes = options.extraMetadata.reduce(
      (sum, { name, value }) => sum + name.length + Buffer.byteLength(value),
      0,
    );
  }

  /**
   * Adds `bytes[start, end)` as an entry. Its stream has the labels of the document and `labels`, which `key`
   * identifies. Returns the reason if the document is invalid. Throws ClientError if the whole push is too
   * large.
   */
  add(start: number, end: number, key: string, labels: readonly Label[]): DocumentFailure | undefined {
    const columns = this.#columns;
    const fields = this.#fields;
    if (end - start > MAX_DOCUMENT_BYTES) return 'too-long';
    if (!fields.read(start, end)) return 'no-object';
    const message = this.#messageField();
    const timeField = this.#timeField();
    if (timeField === 'bad-time') return timeField;
    if (timeField === NONE) addNanoseconds(this.#time, this.#now, this.#withoutTime++);
    const stream = this.#streamFor(key, labels);
    if (columns.count === MAX_PUSH_ENTRIES) throw tooMany('entries', MAX_PUSH_ENTRIES);
    const { day, timeOfDay } = this.#time;
    if (message === NONE || !this.#fitsMetadata(message, timeField)) {
      columns.addEntry(stream, day, timeOfDay, start, trimmedEnd(columns.bytes, start, end));
    } else {
      this.#unescape(message);
      columns.addEntry(stream, day, timeOfDay, fields.start[message], fields.end[message]);
      this.#addMetadata(message, timeField);
    }
    this.addExtraMetadata();
    return undefined;
  }

  /** Adds `extraMetadata` to the newest entry. Documents already include it. */
  addExtraMetadata(): void {
    for (const { name, start, end } of this.#extra) this.#addPair(name, start, end);
  }

  /** Returns the message field of lowest rank, which holds the text. */
  #messageField(): number {
    const fields = this.#fields;
    let found = NONE;
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < fields.count; i++) {
      const { role, rank } = this.#paths.paths[fields.path[i]];
      if (role !== FieldRole.message || rank > best || fields.kind[i] === Kind.raw) continue;
      best = rank;
      found = i;
    }
    return found;
  }

  /** Finds the field of lowest rank that holds a time, and sets `this.time`. */
  #timeField(): number | 'bad-time' {
    const fields = this.#fields;
    const columns = this.#columns;
    let found = NONE;
    let best = Number.POSITIVE_INFINITY;
    for (let i = 0; i < fields.count; i++) {
      const { role, rank } = this.#paths.paths[fields.path[i]];
      if (role !== FieldRole.time || rank > best) continue;
      const start = fields.start[i];
      const end = fields.end[i];
      // VictoriaLogs: 0 means the arrival time.
      if (end - start === 1 && columns.bytes[start] === 0x30) continue;
      if (readTime(SCRATCH, columns.bytes, start, end)) {
        this.#time.day = SCRATCH.day;
        this.#time.timeOfDay = SCRATCH.timeOfDay;
        best = rank;
        found = i;
      } else if (rank === 0) return 'bad-time';
    }
    return found;
  }

  #streamFor(key: string, labels: readonly Label[]): number {
    const fields = this.#fields;
    const columns = this.#columns;
    let full = key;
    for (let i = 0; i < fields.count; i++) {
      if (this.#isLabel(i)) {
        // Bytes as characters, which needs no decoding. Lengths separate neighbors.
        const value = columns.bytes.latin1Slice(fields.start[i], fields.end[i]);
        full += `\n${this.#paths.paths[fields.path[i]].rank} ${value.length} ${value}`;
      }
    }
    let stream = this.#streamOfKey.get(full);
    if (stream === undefined) {
      stream = this.streams.indexOf(streamOf(labelsOf(this.#labelsOfDocument(labels))));
      // Documents may name the labels of one stream in any order.
      if (this.#streamOfKey.size >= MAX_STREAMS) this.#streamOfKey.clear();
      this.#streamOfKey.set(full, stream);
    }
    return stream;
  }

  #labelsOfDocument(labels: readonly Label[]): Map<string, string> {
    const fields = this.#fields;
    const columns = this.#columns;
    const options = this.#options;
    const found = new Map<string, string>();
    for (const { name, value } of [...options.extraLabels, ...labels])
      if (value !== '') found.set(name, value);
    for (let i = 0; i < fields.count; i++) {
      if (!this.#isLabel(i)) continue;
      const isEscaped = fields.kind[i] === Kind.escapedText;
      const value = isEscaped ? unescaped(columns.bytes, fields.start[i], fields.end[i]) : this.#text(i);
      found.set(this.#paths.labels[this.#paths.paths[fields.path[i]].rank], value);
    }
    return found;
  }

  /**
   * Whether the field is a label. A longer value would get the entry refused, and becomes metadata instead.
   */
  #isLabel(field: number): boolean {
    const fields = this.#fields;
    const context = this.#context;
    if (this.#paths.paths[fields.path[field]].role !== FieldRole.label) return false;
    return fields.end[field] - fields.start[field] <= context.limits.maxLabelValueLength;
  }

  #isMetadata(field: number, message: number, time: number): boolean {
    const { role } = this.#paths.paths[this.#fields.path[field]];
    return field !== message && field !== time && role !== FieldRole.ignored && !this.#isLabel(field);
  }

  #fitsMetadata(message: number, time: number): boolean {
    const fields = this.#fields;
    const context = this.#context;
    const extra = this.#extra;
    const { allowStructuredMetadata, maxStructuredMetadataSize, maxStructuredMetadataEntriesCount } =
      context.limits;
    if (fields.isCut) return false;
    let count = extra.length;
    let size = this.#extraBytes;
    for (let i = 0; i < fields.count; i++) {
      if (!this.#isMetadata(i, message, time)) continue;
      const { role, nameBytes } = this.#paths.paths[fields.path[i]];
      if (role === FieldRole.unstorable) return false;
      count++;
      size += nameBytes + fields.end[i] - fields.start[i];
    }
    if (count === 0) return true;
    if (!allowStructuredMetadata) return false;
    if (maxStructuredMetadataEntriesCount > 0 && count > maxStructuredMetadataEntriesCount) return false;
    return maxStructuredMetadataSize === 0 || size <= maxStructuredMetadataSize;
  }

  #addMetadata(message: number, time: number): void {
    const fields = this.#fields;
    for (let i = 0; i < fields.count; i++) {
      if (!this.#isMetadata(i, message, time)) continue;
      this.#unescape(i);
      this.#addPair(this.#nameOf(fields.path[i]), fields.start[i], fields.end[i]);
    }
  }

  #addPair(name: number, start: number, end: number): void {
    if (this.#columns.pairCount === MAX_METADATA_PAIRS) throw tooMany('metadata pairs', MAX_METADATA_PAIRS);
    this.#columns.addPair(name, start, end);
  }

  #nameOf(path: number): number {
    if (path >= this.#nameOfPath.length) {
      const grown = new Uint32Array(Math.max(path + 1, this.#nameOfPath.length * 2));
      grown.set(this.#nameOfPath);
      this.#nameOfPath = grown;
    }
    const known = this.#nameOfPath[path];
    if (known > 0) return known - 1;
    const { name } = this.#paths.paths[path];
    // The name is the same as a label and as metadata, and level detection recognizes it.
    const id = this.#columns.nameId(name === 'log.level' ? 'level' : sanitizeMetadataName(name));
    this.#nameOfPath[path] = id + 1;
    return id;
  }

  /** Unescapes in place, as for a JSON push. The document can then no longer be its own line. */
  #unescape(field: number): void {
    const fields = this.#fields;
    const json = this.#json;
    if (fields.kind[field] !== Kind.escapedText) return;
    json.at = fields.start[field] - 1;
    json.string();
    fields.start[field] = json.start;
    fields.end[field] = json.end;
  }

  #text(field: number): string {
    return this.#columns.bytes.utf8Slice(this.#fields.start[field], this.#fields.end[field]);
  }
}

const SCRATCH: Timestamp = { day: 0, timeOfDay: 0 };

function trimmedEnd(bytes: Uint8Array, start: number, end: number): number {
  let at = end;
  while (at > start && bytes[at - 1] <= 0x20) at--;
  return at;
}
