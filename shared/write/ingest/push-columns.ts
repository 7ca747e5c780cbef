/**
 * One push, decoded directly into columns, without an object per entry. Decoders fill it, validation and
 * discovery amend it, and the segment writer sorts it into pages.
 *
 * A timestamp is a UTC day and nanoseconds within it. Both are exact as numbers, and chunks never cross a
 * day.
 */

import { BufferPool } from '../../base/model/buffer-pool.ts';
import { enlarged } from '../../base/model/enlarged.ts';
import { freeLarge } from '../../base/model/free-bytes.ts';
import type { Labels } from '../../base/model/labels.ts';
import type { Steps } from '../../base/model/steps.ts';
import { noteGrowth } from './column-growth.ts';
import { copyInSteps } from './unpacked-bytes.ts';

export interface PushStream {
  readonly labels: Labels;
  /** Canonical text, see model/labels.ts. */
  readonly text: string;
}

/** Pool of entry columns for later pushes. */
const POOL = new BufferPool(16 * 1024 * 1024);
const BYTES_OF_ENTRY = 28;
const BYTES_OF_PAIR = 12;
/** Pairs of the first columns. Most pushes have no metadata, and need none. */
const FIRST_PAIRS = 256;
const NO_PAIRS = new Uint32Array(0);
/**
 * Bytes of the body per entry for the first guess. Log lines are longer on average, so columns rarely grow,
 * and those of a tiny push stay tiny.
 */
const BODY_BYTES_PER_ENTRY = 128;
const MIN_ENTRIES = 64;
/** Maximum of the first guess, so that a body with few long lines does not cost more. */
const MAX_GUESSED_ENTRIES = 32_768;

/** Columns of the entries, all in one buffer. */
interface EntryColumns {
  readonly memory: Buffer;
  readonly timeOfDay: Float64Array;
  readonly streamOf: Uint32Array;
  readonly day: Int32Array;
  readonly lineStart: Uint32Array;
  readonly lineEnd: Uint32Array;
  readonly firstPair: Uint32Array;
}

/** Takes columns for a number of entries from the pool. They contain data of earlier entries. */
function takeColumns(entries: number): EntryColumns {
  const memory = POOL.take(entries * BYTES_OF_ENTRY + 4);
  const { buffer, byteOffset: at } = memory;
  return {
    memory,
    timeOfDay: new Float64Array(buffer, at, entries),
    streamOf: new Uint32Array(buffer, at + 8 * entries, entries),
    day: new Int32Array(buffer, at + 12 * entries, entries),
    lineStart: new Uint32Array(buffer, at + 16 * entries, entries),
    lineEnd: new Uint32Array(buffer, at + 20 * entries, entries),
    firstPair: new Uint32Array(buffer, at + 24 * entries, entries + 1),
  };
}

export class PushColumns {
  /** Bytes that all ranges refer to: the decompressed body, followed by bytes that decoding created. */
  bytes: Buffer;
  /** Streams of the push, each canonical text once. */
  readonly streams: PushStream[] = [];
  /** Names of structured metadata, each once. */
  readonly names: string[] = [];
  readonly #nameIds = new Map<string, number>();

  /**
   * Number of entries. Every entry column below has at least `count` elements; elements after them are
   * undefined.
   */
  count = 0;
  streamOf: Uint32Array;
  /** UTC day since 1970-01-01. */
  day: Int32Array;
  /** Nanoseconds since the start of that day, 0 <= x < NS_OF_DAY. */
  timeOfDay: Float64Array;
  /** Line: `bytes[lineStart, lineEnd)`. */
  lineStart: Uint32Array;
  lineEnd: Uint32Array;
  /** First metadata pair of the entry. The pairs of entry i end at the first pair of entry i + 1. */
  firstPair: Uint32Array;
  #memory: Buffer;

  /** Metadata pairs, in the order of the entries. */
  pairCount = 0;
  /** Index in `names`. */
  pairName = NO_PAIRS;
  /** Value: `bytes[pairStart, pairEnd)`. */
  pairStart = NO_PAIRS;
  pairEnd = NO_PAIRS;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
    const guess = Math.ceil(bytes.length / BODY_BYTES_PER_ENTRY);
    const columns = takeColumns(Math.min(Math.max(guess, MIN_ENTRIES), MAX_GUESSED_ENTRIES));
    columns.firstPair[0] = 0;
    this.#memory = columns.memory;
    this.streamOf = columns.streamOf;
    this.day = columns.day;
    this.timeOfDay = columns.timeOfDay;
    this.lineStart = columns.lineStart;
    this.lineEnd = columns.lineEnd;
    this.firstPair = columns.firstPair;
  }

  /**
   * Returns the entry columns to the pool, once.
   *
   * Pitfall: no reader may use them after this call, and no other owner may hold them.
   */
  release(): void {
    POOL.give(this.#memory);
    this.#use(takeColumns(0));
    for (const column of [this.pairName, this.pairStart, this.pairEnd]) {
      freeLarge(new Uint8Array(column.buffer));
    }
  }

  /** Returns the index of a metadata name in `names`. */
  nameId(name: string): number {
    let id = this.#nameIds.get(name);
    if (id === undefined) {
      id = this.names.length;
      this.names.push(name);
      this.#nameIds.set(name, id);
    }
    return id;
  }

  /** Adds an entry without metadata. `addPair` then adds pairs to it. */
  addEntry(stream: number, day: number, timeOfDay: number, lineStart: number, lineEnd: number): void {
    const at = this.count;
    if (at === this.streamOf.length) this.#growEntries();
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
    if (at === this.pairName.length) this.#growPairs();
    this.pairName[at] = name;
    this.pairStart[at] = start;
    this.pairEnd[at] = end;
    this.pairCount = at + 1;
    this.firstPair[this.count] = at + 1;
  }

  /** Appends bytes to the body, which may move it, and returns their offset. */
  *append(more: Uint8Array): Steps<number> {
    const before = this.bytes;
    const whole = Buffer.allocUnsafeSlow(before.length + more.length);
    yield* copyInSteps(before, whole, 0);
    yield* copyInSteps(more, whole, before.length);
    this.bytes = whole;
    return before.length;
  }

  #growEntries(): void {
    const before = this.#memory;
    const { timeOfDay, streamOf, day, lineStart, lineEnd, firstPair } = this;
    this.#use(takeColumns(streamOf.length * 2));
    noteGrowth(streamOf.length * BYTES_OF_ENTRY);
    this.timeOfDay.set(timeOfDay);
    this.streamOf.set(streamOf);
    this.day.set(day);
    this.lineStart.set(lineStart);
    this.lineEnd.set(lineEnd);
    this.firstPair.set(firstPair);
    POOL.give(before);
  }

  #use({ memory, timeOfDay, streamOf, day, lineStart, lineEnd, firstPair }: EntryColumns): void {
    this.#memory = memory;
    this.timeOfDay = timeOfDay;
    this.streamOf = streamOf;
    this.day = day;
    this.lineStart = lineStart;
    this.lineEnd = lineEnd;
    this.firstPair = firstPair;
  }

  #growPairs(): void {
    const size = Math.max(FIRST_PAIRS, this.pairName.length * 2);
    noteGrowth(this.pairName.length * BYTES_OF_PAIR);
    this.pairName = enlarged(this.pairName, new Uint32Array(size));
    this.pairStart = enlarged(this.pairStart, new Uint32Array(size));
    this.pairEnd = enlarged(this.pairEnd, new Uint32Array(size));
  }
}

/** Result of validating a push: the entries to store, and the detected level of each. */
export interface AcceptedPush {
  readonly columns: PushColumns;
  /** Entries to store, ascending. */
  readonly entries: Uint32Array;
  /** Bytes of their lines, or more. */
  readonly lineBytes: number;
  /** Index in `levels` plus 1 for each entry of the push (not of `entries`), or 0 if none is added. */
  readonly levelOf: Uint16Array;
  /** Values of the metadata name `detected_level` that detection adds. */
  readonly levels: readonly string[];
}
