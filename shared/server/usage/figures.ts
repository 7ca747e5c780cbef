/**
 * Usage of one tenant on one UTC day, as counted by one process or summed over several, and its format in the
 * table: JSON with the registers of the stream count as deflated bytes in base64.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { CorruptionError } from '../../base/model/errors.ts';
import { HyperLogLog, REGISTERS } from '../../base/model/hyperloglog.ts';

/** Plain sums. */
export interface Sums {
  /** Number of pushes that stored entries. */
  pushes: number;
  /** Same in units that the gateway bills as one request. */
  gatewayUnits: number;
  /** Number of stored entries. */
  lines: number;
  /** Bytes of their lines. */
  lineBytes: number;
  /** Bytes of names and values of their structured metadata, as sent. */
  metadataBytes: number;
  /**
   * Estimated numbers of objects that the pushes put, and of write units of their records (see chunkWrites).
   */
  objectPuts: number;
  writeUnits: number;
  /** Number of completed queries. */
  queries: number;
  /** Duration of these queries, milliseconds. */
  queryMs: number;
  /** Stored bytes that they read, and number of requests for them. */
  queryBytes: number;
  queryGets: number;
  /** Number of chunk records that they read. */
  queryRecords: number;
}

interface RefusedEntries {
  lines: number;
  bytes: number;
}

export interface UsageFigures {
  readonly sums: Sums;
  /** Refused entries by reason. */
  readonly refused: Map<string, RefusedEntries>;
  readonly streams: HyperLogLog;
}

/** The program defines about 20 reasons. */
export const MAX_REASONS = 64;
const VERSION = 1;

export function newFigures(): UsageFigures {
  const sums = {
    pushes: 0,
    gatewayUnits: 0,
    lines: 0,
    lineBytes: 0,
    metadataBytes: 0,
    objectPuts: 0,
    writeUnits: 0,
    queries: 0,
    queryMs: 0,
    queryBytes: 0,
    queryGets: 0,
    queryRecords: 0,
  };
  return { sums, refused: new Map(), streams: new HyperLogLog() };
}

export function addRefused(
  { refused }: UsageFigures,
  reason: string,
  { lines, bytes }: RefusedEntries,
): void {
  const name = refused.has(reason) || refused.size < MAX_REASONS ? reason : 'other';
  const known = refused.get(name);
  if (known === undefined) refused.set(name, { lines, bytes });
  else {
    known.lines += lines;
    known.bytes += bytes;
  }
}

/** Adds the second to the first. */
export function addFigures(to: UsageFigures, from: UsageFigures): void {
  for (const name of Object.keys(to.sums) as (keyof Sums)[]) to.sums[name] += from.sums[name];
  for (const [reason, entries] of from.refused) addRefused(to, reason, entries);
  to.streams.merge(from.streams);
}

interface StoredFigures {
  readonly v: number;
  readonly sums: Partial<Sums>;
  readonly refused: Readonly<Record<string, RefusedEntries>>;
  readonly streams: string;
}

export function encodeFigures({ sums, refused, streams }: UsageFigures): Uint8Array {
  const stored: StoredFigures = {
    v: VERSION,
    sums,
    refused: Object.fromEntries(refused),
    streams: deflateRawSync(streams.registers()).toString('base64'),
  };
  return Buffer.from(JSON.stringify(stored));
}

/** Sums that an older version did not count are 0. Throws CorruptionError. */
export function decodeFigures(body: Uint8Array): UsageFigures {
  let stored: StoredFigures;
  let registers: Uint8Array;
  try {
    stored = JSON.parse(Buffer.from(body).toString()) as StoredFigures;
    const deflated = Buffer.from(stored.streams, 'base64');
    registers = inflateRawSync(deflated, { maxOutputLength: REGISTERS });
  } catch (error) {
    throw new CorruptionError(`usage record: ${String(error)}`);
  }
  if (stored.v !== VERSION) throw new CorruptionError(`usage record has the unknown version ${stored.v}`);
  if (registers.length !== REGISTERS)
    throw new CorruptionError(`usage record has ${registers.length} registers`);
  const figures = newFigures();
  for (const name of Object.keys(figures.sums) as (keyof Sums)[]) figures.sums[name] = stored.sums[name] ?? 0;
  for (const [reason, entries] of Object.entries(stored.refused)) figures.refused.set(reason, { ...entries });
  return { ...figures, streams: HyperLogLog.of(registers) };
}
