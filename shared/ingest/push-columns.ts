/**
 * One push, decoded straight into columns: no object stands for an entry. Decoders fill it, validation and
 * discovery amend it, the segment writer sorts it into pages.
 *
 * A timestamp is a UTC day and nanoseconds inside it: both are exact as numbers, and chunks never cross a day.
 */
import type { Labels } from '../model/labels.ts';

export const NS_OF_DAY = 86_400_000_000_000;

export interface PushStream {
  readonly labels: Labels;
  /** Canonical text, see model/labels.ts. */
  readonly text: string;
}

export class PushColumns {
  /** What all ranges point into: the decompressed body, and behind it what decoding had to make. */
  bytes: Buffer;
  /** Streams of the push; each canonical text once. */
  readonly streams: PushStream[] = [];
  /** Names of structured metadata; each once. */
  readonly names: string[] = [];
  private readonly nameIds = new Map<string, number>();

  /** Entries. Every entry column below has at least `count` places. */
  count = 0;
  streamOf = new Uint32Array(1024);
  /** UTC day since 1970-01-01. */
  day = new Int32Array(1024);
  /** Nanoseconds since the start of that day, 0 <= x < NS_OF_DAY. */
  timeOfDay = new Float64Array(1024);
  /** Line: `bytes[lineStart, lineEnd)`. */
  lineStart = new Uint32Array(1024);
  lineEnd = new Uint32Array(1024);
  /** First metadata pair of the entry; the pairs of entry i end where those of entry i + 1 start. */
  firstPair = new Uint32Array(1025);

  /** Metadata pairs, in the order of the entries. */
  pairCount = 0;
  /** Place in `names`. */
  pairName = new Uint32Array(256);
  /** Value: `bytes[pairStart, pairEnd)`. */
  pairStart = new Uint32Array(256);
  pairEnd = new Uint32Array(256);

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }

  /** Place of a metadata name in `names`. */
  nameId(name: string): number {
    let id = this.nameIds.get(name);
    if (id === undefined) {
      id = this.names.length;
      this.names.push(name);
      this.nameIds.set(name, id);
    }
    return id;
  }

  /** Adds an entry without metadata; `addPair` then adds pairs to it. */
  addEntry(stream: number, day: number, timeOfDay: number, lineStart: number, lineEnd: number): void {
    const at = this.count;
    if (at === this.streamOf.length) this.growEntries();
    this.streamOf[at] = stream;
    this.day[at] = day;
    this.timeOfDay[at] = timeOfDay;
    this.lineStart[at] = lineStart;
    this.lineEnd[at] = lineEnd;
    this.firstPair[at] = this.pairCount;
    this.count = at + 1;
    this.firstPair[at + 1] = this.pairCount;
  }

  /** Adds a metadata pair to the newest entry. */
  addPair(name: number, start: number, end: number): void {
    const at = this.pairCount;
    if (at === this.pairName.length) this.growPairs();
    this.pairName[at] = name;
    this.pairStart[at] = start;
    this.pairEnd[at] = end;
    this.pairCount = at + 1;
    this.firstPair[this.count] = at + 1;
  }

  /** Puts bytes behind the body; the offset where they start. */
  append(more: Uint8Array): number {
    const start = this.bytes.length;
    this.bytes = Buffer.concat([this.bytes, more]);
    return start;
  }

  private growEntries(): void {
    const size = this.streamOf.length * 2;
    this.streamOf = grown(this.streamOf, new Uint32Array(size));
    this.day = grown(this.day, new Int32Array(size));
    this.timeOfDay = grown(this.timeOfDay, new Float64Array(size));
    this.lineStart = grown(this.lineStart, new Uint32Array(size));
    this.lineEnd = grown(this.lineEnd, new Uint32Array(size));
    this.firstPair = grown(this.firstPair, new Uint32Array(size + 1));
  }

  private growPairs(): void {
    const size = this.pairName.length * 2;
    this.pairName = grown(this.pairName, new Uint32Array(size));
    this.pairStart = grown(this.pairStart, new Uint32Array(size));
    this.pairEnd = grown(this.pairEnd, new Uint32Array(size));
  }
}

function grown<T extends Uint32Array | Int32Array | Float64Array>(from: T, to: T): T {
  to.set(from as never);
  return to;
}

/**
 * What of a push is to be stored, once it is validated: which entries, and the detected level of each.
 */
export interface AcceptedPush {
  readonly columns: PushColumns;
  /** Entries to store, ascending. */
  readonly entries: Uint32Array;
  /** For each entry of the push (not of `entries`): place in `levels`, plus 1; 0 where none is to be added. */
  readonly levelOf: Uint16Array;
  /** Values of the metadata name `detected_level` that detection adds. */
  readonly levels: readonly string[];
}
