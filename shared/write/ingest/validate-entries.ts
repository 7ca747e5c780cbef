/**
 * Validates entries (docs/dev/wire-format.md#validation, scope entry), cuts long lines and separates entries of the same time.
 * The first check that fails decides the entry's message.
 */

import type { ClientError } from '../../base/model/errors.ts';
import { MAX_INT64, MIN_INT64 } from '../../base/model/int64.ts';
import type { Limits } from '../../base/model/limits.ts';
import type { Steps } from '../../base/model/steps.ts';
import { MAX_DAYS, tooMany } from './bounds.ts';
import { type Discard, Discards } from './discards.ts';
import { DuplicateTimes } from './duplicate-times.ts';
import { addEntryError, type EntryReason } from './entry-errors.ts';
import { ErrorGroups } from './error-groups.ts';
import type { PushColumns } from './push-columns.ts';
import { checkStreams, type StreamChecks } from './push-streams.ts';
import { type Timestamp, timestampOf } from './timestamp.ts';

interface ValidationOptions {
  readonly tenant: string;
  readonly limits: Limits;
  readonly nowNs: bigint;
  /** Disables the check for old entries. */
  readonly acceptOld: boolean;
}

/** Totals of the entries to store, by stream. */
export interface StreamTotals {
  readonly entries: Uint32Array;
  /** Bytes of lines. */
  readonly lineBytes: Float64Array;
  /** Bytes of names and values of metadata, as sent. */
  readonly metadataBytes: Float64Array;
}

interface Validation {
  /** Entries to store, ascending. */
  readonly entries: Uint32Array;
  readonly errors: ErrorGroups;
  /** See StreamChecks. */
  readonly blocked: ClientError | undefined;
  readonly policyOf: readonly string[];
  readonly discards: readonly Discard[];
  readonly totals: StreamTotals;
  readonly truncated: Truncated;
}

/** Lines that were cut to the limit, and the bytes removed. */
export interface Truncated {
  lines: number;
  bytes: number;
}

const DETECTED_LEVEL = 'detected_level';
/** Older times do not fit in 64-bit nanoseconds, whatever the limits are. */
const OLDEST = timestampOf(MIN_INT64);
const NEWEST = timestampOf(MAX_INT64);

/** Entries per step: 0.2 ms. */
const ENTRIES_A_STEP = 2048;
const PAIRS_A_STEP = 16_384;

/**
 * Validates all entries against the limits. Cuts lines in place and moves times, if the limits request it.
 */
export function* validateEntries(columns: PushColumns, options: ValidationOptions): Steps<Validation> {
  const { limits, nowNs, acceptOld } = options;
  const errors = new ErrorGroups();
  const discards = new Discards();
  const { policyOf, refusedAs, blocked } = yield* checkStreams(columns, options, errors);
  const isOldRefused = !acceptOld && limits.rejectOldSamples;
  const validating: Validating = {
    limits,
    errors,
    discards,
    policyOf,
    refusedAs,
    oldest: isOldRefused ? timestampOf(nowNs - limits.rejectOldSamplesMaxAgeNs) : OLDEST,
    newest: earlier(timestampOf(nowNs + limits.creationGracePeriodNs), NEWEST),
    maxLine: limits.maxLineSize > 0 ? limits.maxLineSize : Infinity,
    suffix: Buffer.from(limits.maxLineSizeTruncateIdentifier),
    sizes: nameSizes(columns),
    spread: limits.incrementDuplicateTimestamp ? new DuplicateTimes(columns) : undefined,
    entries: new Uint32Array(columns.count),
    kept: 0,
    totals: emptyTotals(columns.streams.length),
    truncated: { lines: 0, bytes: 0 },
    days: new Set(),
    lastDay: NO_DAY,
  };
  for (let next = 0; next < columns.count; ) {
    next = validateSome(columns, validating, next);
    yield;
  }
  const { entries, kept, totals, truncated } = validating;
  const stored = entries.subarray(0, kept);
  return { entries: stored, errors, blocked, policyOf, discards: discards.all(), totals, truncated };
}

const NO_DAY = Number.NaN;

interface Validating {
  readonly limits: Limits;
  readonly errors: ErrorGroups;
  readonly discards: Discards;
  readonly policyOf: StreamChecks['policyOf'];
  readonly refusedAs: StreamChecks['refusedAs'];
  readonly oldest: Timestamp;
  readonly newest: Timestamp;
  readonly maxLine: number;
  readonly suffix: Buffer;
  readonly sizes: Uint32Array;
  readonly spread: DuplicateTimes | undefined;
  /** Entries to store, ascending; `kept` of them so far. */
  readonly entries: Uint32Array;
  kept: number;
  readonly totals: StreamTotals;
  readonly truncated: Truncated;
  /** Days of entries to store, and the day of the last one. */
  readonly days: Set<number>;
  lastDay: number;
}

/** Validates entries from `first` on. Returns the next index. */
function validateSome(columns: PushColumns, validating: Validating, first: number): number {
  const { limits, errors, discards, policyOf, refusedAs, oldest, newest } = validating;
  const { maxLine, suffix, sizes, spread, entries, totals, truncated } = validating;
  const { streamOf, day, timeOfDay, lineStart, lineEnd, firstPair } = columns;
  const last = Math.min(columns.count, first + ENTRIES_A_STEP);
  const lastPair = firstPair[first] + PAIRS_A_STEP;
  let { kept, lastDay } = validating;
  let entry = first;
  for (; entry < last && firstPair[entry] < lastPair; entry++) {
    const stream = streamOf[entry];
    if (limits.maxLineSizeTruncate && lineEnd[entry] - lineStart[entry] > maxLine) {
      truncated.lines++;
      truncated.bytes += lineEnd[entry] - lineStart[entry] - maxLine;
      truncateLine(columns, entry, maxLine, suffix);
    }
    const lineSize = lineEnd[entry] - lineStart[entry];
    const pairs = firstPair[entry + 1] - firstPair[entry];
    const metadata = pairs === 0 ? NO_METADATA : metadataSize(columns, entry, sizes);
    const refused = refusedAs.size > 0 ? refusedAs.get(stream) : undefined;
    if (refused !== undefined) {
      discards.add(refused, policyOf[stream], lineSize + metadata.all);
      continue;
    }
    const reason = failedCheck(
      limits,
      day[entry],
      timeOfDay[entry],
      oldest,
      newest,
      lineSize,
      maxLine,
      pairs,
      metadata.limited,
    );
    if (reason !== undefined) {
      discards.add(reason, policyOf[stream], lineSize + metadata.all);
      addEntryError(errors, reason, { columns, entry, limits, oldest, metadataSize: metadata.limited });
      continue;
    }
    entries[kept++] = entry;
    totals.entries[stream]++;
    totals.lineBytes[stream] += lineSize;
    totals.metadataBytes[stream] += metadata.all;
    spread?.move(entry);
    if (day[entry] !== lastDay) {
      lastDay = day[entry];
      validating.days.add(lastDay);
      if (validating.days.size > MAX_DAYS) throw tooMany('days', MAX_DAYS);
    }
  }
  validating.kept = kept;
  validating.lastDay = lastDay;
  return entry;
}

function emptyTotals(streams: number): StreamTotals {
  return {
    entries: new Uint32Array(streams),
    lineBytes: new Float64Array(streams),
    metadataBytes: new Float64Array(streams),
  };
}

function failedCheck(
  limits: Limits,
  day: number,
  timeOfDay: number,
  oldest: Timestamp,
  newest: Timestamp,
  lineSize: number,
  maxLine: number,
  pairs: number,
  metadataSize: number,
): EntryReason | undefined {
  if (day < oldest.day || (day === oldest.day && timeOfDay < oldest.timeOfDay)) {
    return 'greater_than_max_sample_age';
  }
  if (day > newest.day || (day === newest.day && timeOfDay > newest.timeOfDay)) return 'too_far_in_future';
  if (lineSize > maxLine) return 'line_too_long';
  if (pairs === 0) return undefined;
  if (!limits.allowStructuredMetadata) return 'disallowed_structured_metadata';
  if (limits.maxStructuredMetadataSize > 0 && metadataSize > limits.maxStructuredMetadataSize) {
    return 'structured_metadata_too_large';
  }
  if (limits.maxStructuredMetadataEntriesCount > 0 && pairs > limits.maxStructuredMetadataEntriesCount) {
    return 'structured_metadata_too_many';
  }
  return undefined;
}

interface MetadataSize {
  /** Bytes of names and values. */
  all: number;
  /** Bytes that count against the limit: without `detected_level`. */
  limited: number;
}

const NO_METADATA: Readonly<MetadataSize> = { all: 0, limited: 0 };
const METADATA_OF_ENTRY: MetadataSize = { all: 0, limited: 0 };

/** Returns the sizes of an entry's metadata, in an object that the next call overwrites. */
function metadataSize(columns: PushColumns, entry: number, sizes: Uint32Array): Readonly<MetadataSize> {
  const { pairName, pairStart, pairEnd, firstPair, names } = columns;
  let all = 0;
  let limited = 0;
  for (let pair = firstPair[entry]; pair < firstPair[entry + 1]; pair++) {
    const size = sizes[pairName[pair]] + pairEnd[pair] - pairStart[pair];
    all += size;
    if (names[pairName[pair]] !== DETECTED_LEVEL) limited += size;
  }
  METADATA_OF_ENTRY.all = all;
  METADATA_OF_ENTRY.limited = limited;
  return METADATA_OF_ENTRY;
}

/** Bytes of each name. */
function nameSizes(columns: PushColumns): Uint32Array {
  return Uint32Array.from(columns.names, name => Buffer.byteLength(name));
}

/** Cuts a line to the limit. The identifier overwrites its last bytes, so nothing is copied. */
function truncateLine(columns: PushColumns, entry: number, maxLine: number, suffix: Buffer): void {
  const end = columns.lineStart[entry] + maxLine;
  if (suffix.length <= maxLine) suffix.copy(columns.bytes, end - suffix.length);
  columns.lineEnd[entry] = end;
}

function earlier(a: Timestamp, b: Timestamp): Timestamp {
  return a.day < b.day || (a.day === b.day && a.timeOfDay < b.timeOfDay) ? a : b;
}
