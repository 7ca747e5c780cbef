/**
 * Item of a tenant's day. It states that the day has chunks, how many swap steps it went through (the item's version),
 * where its index is stored, and how many partitions contain its records. A query reads the item before and after the
 * chunks. The same version means that no swap made it miss entries (swap.ts). So the version must never fall, and every
 * write of the item must be conditional on the previous version.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import type { Item } from '../../base/ports/table.ts';
import { ByteReader, ByteWriter } from '../codec/byte-io.ts';
import { streamPartOf } from './chunk-record.ts';
import { CHUNK_SHARDS, dayKey, dayOfText, MAX_CHUNK_SHARDS } from './keys.ts';
import { ALL_STREAMS, MAX_PART } from './stream-part.ts';

/** An index object of a day. The object itself lists the chunks that it covers. */
export interface IndexRecord {
  /**
   * Minute of the day from which on its chunks begin, up to that of the next index. A day of many chunks has an index for
   * each window of time, so that syncing and reading a part of the day does not take the whole.
   */
  readonly fromMinute: number;
  /** Part of the streams that its chunks have (stream-part.ts). Undefined: chunks of all streams, and those of no other index. */
  readonly streamPart?: number | undefined;
  /** 32 hex digits, like a chunk ID. */
  readonly id: string;
  /** Size of the object, bytes. */
  readonly storedBytes: number;
  /** Bytes at the end of the object that a reader requests first. */
  readonly headBytes: number;
}

export interface Day {
  readonly day: number;
  readonly version: number;
  /** Day indexes in the order of their windows and parts of the streams. Most days have one, from minute 0. */
  readonly indexes: readonly IndexRecord[];
  /** Partitions of its chunk records (keys.ts), a power of two that only rises. */
  readonly partitions: number;
  /** True if records can be in the common partition of the tenant: the day began with fewer than CHUNK_SHARDS. */
  readonly isCommon?: true | undefined;
}

/** Version 1 has no partitions. It is written if their number is CHUNK_SHARDS, and none is in the common partition. */
const DAY_VERSION = 1;
const PARTITIONED_VERSION = 2;
const HAS_INDEX = 1;
const IS_COMMON = 2;
/** Several indexes, or one that does not begin at minute 0. */
const HAS_WINDOWS = 4;
/** Indexes of parts of the streams. Only together with HAS_WINDOWS. */
const HAS_PARTS = 8;
const KNOWN_FLAGS = HAS_INDEX | IS_COMMON | HAS_WINDOWS | HAS_PARTS;
/** Maximum indexes of a day: 7 KB of its item. */
const MAX_INDEXES = 256;

/** Key of the object that stores an index. */
export function indexKey(tenant: string, day: number, id: string): string {
  return `${tenant}/index/${day}/${id}`;
}

/** Keys of the objects that store the indexes of a day. */
export function indexKeysOf(tenant: string, { day, indexes }: Pick<Day, 'day' | 'indexes'>): string[] {
  return indexes.map(({ id }) => indexKey(tenant, day, id));
}

export function encodeDay(tenant: string, { day, version, indexes, partitions, isCommon }: Day): Item {
  const key = dayKey(tenant, day);
  const hasParts = indexes.some(index => streamPartOf(index) !== ALL_STREAMS);
  const hasWindows = hasParts || indexes.length > 1 || indexes.some(({ fromMinute }) => fromMinute > 0);
  const isUsual = partitions === CHUNK_SHARDS && isCommon !== true && !hasWindows;
  if (indexes.length === 0 && isUsual) return { ...key, version, body: new Uint8Array(0) };
  const out = new ByteWriter(32);
  out.byte(isUsual ? DAY_VERSION : PARTITIONED_VERSION);
  if (!isUsual) {
    out.varint(partitions);
    const ofIndexes = hasWindows ? HAS_WINDOWS : indexes.length === 0 ? 0 : HAS_INDEX;
    out.byte(ofIndexes | (hasParts ? HAS_PARTS : 0) | (isCommon === true ? IS_COMMON : 0));
  }
  if (hasWindows) out.varint(indexes.length);
  for (const index of indexes) {
    const { fromMinute, id, storedBytes, headBytes } = index;
    if (hasWindows) out.varint(fromMinute);
    if (hasParts) out.varint(streamPartOf(index));
    out.bytes(Buffer.from(id, 'hex'));
    out.varint(storedBytes);
    out.varint(headBytes);
  }
  return { ...key, version, body: out.finish() };
}

/** Throws CorruptionError. */
export function decodeDay({ pk, sk, version, body }: Item): Day {
  const day = dayOfText(sk);
  if (body.length === 0) return { day, version, indexes: [], partitions: CHUNK_SHARDS };
  const reader = new ByteReader(Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  const format = reader.byte();
  const what = `day ${pk} / ${sk}`;
  if (format !== DAY_VERSION && format !== PARTITIONED_VERSION) {
    throw new CorruptionError(`${what} of version ${format}`);
  }
  const partitions = format === DAY_VERSION ? CHUNK_SHARDS : reader.varint();
  if (partitions > MAX_CHUNK_SHARDS || !Number.isInteger(Math.log2(partitions))) {
    throw new CorruptionError(`${what}: ${partitions} partitions`);
  }
  const flags = format === DAY_VERSION ? HAS_INDEX : reader.byte();
  if ((flags & ~KNOWN_FLAGS) !== 0) throw new CorruptionError(`${what}: unknown flags ${flags}`);
  const isCommon = (flags & IS_COMMON) !== 0 ? true : undefined;
  const hasWindows = (flags & HAS_WINDOWS) !== 0;
  const hasParts = (flags & HAS_PARTS) !== 0;
  if (hasParts && !hasWindows) throw new CorruptionError(`${what}: parts of the streams without windows`);
  const count = hasWindows ? reader.varint() : flags & HAS_INDEX;
  if (count > MAX_INDEXES) throw new CorruptionError(`${what}: ${count} indexes`);
  const indexes = Array.from({ length: count }, () => ({
    fromMinute: hasWindows ? reader.varint() : 0,
    ...(hasParts ? { streamPart: partOf(reader.varint(), what) } : {}),
    id: reader.bytes(16).toString('hex'),
    storedBytes: reader.varint(),
    headBytes: reader.varint(),
  }));
  const isAscending = indexes.every((one, i) => i === 0 || compareIndexes(one, indexes[i - 1]) > 0);
  if (!isAscending) throw new CorruptionError(`${what}: windows of indexes out of order`);
  return { day, version, indexes, partitions, isCommon };
}

/** Orders indexes of a day by window and part of the streams. */
export function compareIndexes(a: IndexRecord, b: IndexRecord): number {
  return a.fromMinute - b.fromMinute || streamPartOf(a) - streamPartOf(b);
}

function partOf(streamPart: number, what: string): number | undefined {
  if (streamPart < ALL_STREAMS || streamPart > MAX_PART) {
    throw new CorruptionError(`${what}: an index of part ${streamPart} of the streams`);
  }
  return streamPart === ALL_STREAMS ? undefined : streamPart;
}
