/**
 * Encodes partial results of range aggregations as bytes, which workers return:
 *
 *   version u8 | operation u8 | flags u8 | start, end, step, range, offset i64 | parameter f64
 *   panes varint | for each pane, by series then pane: series delta, pane (delta within a series) varints
 *   for each number of the state: a column, varints for counts, otherwise f64
 *   or, for aggregations over all samples: samples of each pane varint | values f64 | times f64 (rate_counter)
 *
 * All numbers are little-endian. The bytes are not trusted: every value is checked against its range. Memory
 * is allocated according to the available bytes, not to the sizes that they claim.
 */

import { CorruptionError } from '../../base/model/errors.ts';
import type { RangeOp } from '../../language/logql/ast.ts';
import { ByteReader, ByteWriter } from '../../storage/codec/byte-io.ts';
import type { Aggregator } from './aggregators.ts';
import type { PaneTable } from './pane-table.ts';
import type { RangeSpec } from './range-spec.ts';
import type { SampleLog } from './sample-log.ts';
import { MAX_STEPS, type Windows } from './windows.ts';

const VERSION = 2;
/** Maximum series number. Numbers are dense in a worker, and 2^24 series exceed every memory budget. */
const MAX_SERIES = 2 ** 24;
const UNWRAPPED = 1;
const HAS_PARAMETER = 2;

/** Parts of an accumulator that are encoded and decoded. */
interface PaneStates {
  readonly spec: RangeSpec;
  readonly windows: Windows;
  readonly table: PaneTable;
  readonly aggregator: Aggregator | undefined;
  readonly log: SampleLog | undefined;
  readonly cells: Float64Array;
  slotOf(series: number, pane: number): number;
}

/** Operations by number in encoded states. Append only. */
const OPERATIONS: readonly RangeOp[] = [
  'count_over_time',
  'rate',
  'rate_counter',
  'bytes_over_time',
  'bytes_rate',
  'avg_over_time',
  'sum_over_time',
  'min_over_time',
  'max_over_time',
  'stdvar_over_time',
  'stddev_over_time',
  'quantile_over_time',
  'first_over_time',
  'last_over_time',
  'absent_over_time',
];

export function encodePartial(accumulator: PaneStates): Uint8Array {
  const { table, aggregator, cells, log, spec } = accumulator;
  const { order } = table.inOrder();
  const writer = new ByteWriter(256 + order.length * 12);
  writeSpec(writer, spec);
  writer.varint(order.length);
  let series = 0;
  let pane = 0;
  for (const slot of order) {
    const delta = table.seriesOf[slot] - series;
    if (delta > 0) pane = 0;
    writer.varint(delta);
    writer.varint(table.paneOf[slot] - pane);
    series += delta;
    pane = table.paneOf[slot];
  }
  if (aggregator !== undefined) {
    const width = aggregator.layout.length;
    for (let part = 0; part < width; part++) {
      const column = Float64Array.from(order, slot => cells[slot * width + part]);
      if (aggregator.layout[part] === 'whole') for (const value of column) writer.varint(value);
      else writeFloats(writer, column);
    }
  } else {
    const { starts, values, times } = log!.grouped(order, table.count);
    for (let index = 0; index < order.length; index++) writer.varint(starts[index + 1] - starts[index]);
    writeFloats(writer, values);
    writeFloats(writer, times);
  }
  return writer.finish();
}

/** Builds the accumulator with `create` and fills it. Throws CorruptionError. */
export function decodePartial<Accumulator extends PaneStates>(
  bytes: Uint8Array,
  create: (spec: RangeSpec) => Accumulator,
): Accumulator {
  const reader = new ByteReader(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const accumulator = create(readSpec(reader));
  const slots = readPanes(reader, accumulator);
  if (accumulator.aggregator !== undefined) readStates(reader, accumulator, slots);
  else readSamples(reader, accumulator, slots);
  if (reader.remaining > 0) throw corrupt(`${reader.remaining} bytes after the end`);
  return accumulator;
}

/** Returns the slot of each pane, in the order of the bytes. */
function readPanes(reader: ByteReader, accumulator: PaneStates): Uint32Array {
  const { steps } = accumulator.windows;
  const slots = new Uint32Array(reader.count(2));
  let series = 0;
  let pane = 0;
  for (let index = 0; index < slots.length; index++) {
    const delta = reader.varint();
    const paneDelta = reader.varint();
    series += delta;
    pane = delta > 0 || index === 0 ? paneDelta : pane + paneDelta;
    if (series >= MAX_SERIES) throw corrupt(`series ${series} is out of range`);
    if (pane >= 2 * steps) throw corrupt(`pane ${pane} of ${2 * steps}`);
    slots[index] = accumulator.slotOf(series, pane);
    if (slots[index] !== index) throw corrupt(`pane ${pane} of series ${series} occurs twice`);
  }
  return slots;
}

function readStates(reader: ByteReader, accumulator: PaneStates, slots: Uint32Array): void {
  const { layout } = accumulator.aggregator!;
  for (let part = 0; part < layout.length; part++) {
    const column = layout[part] === 'whole' ? undefined : readFloats(reader, slots.length);
    for (let index = 0; index < slots.length; index++) {
      accumulator.cells[slots[index] * layout.length + part] =
        column === undefined ? reader.varint() : column[index];
    }
  }
}

function readSamples(reader: ByteReader, accumulator: PaneStates, slots: Uint32Array): void {
  const log = accumulator.log!;
  const counts = new Float64Array(slots.length);
  let samples = 0;
  for (let index = 0; index < slots.length; index++) {
    counts[index] = reader.varint();
    samples += counts[index];
    if (counts[index] === 0) throw corrupt('a pane without samples');
  }
  const bytes = samples * (log.keepsTimes ? 16 : 8);
  if (bytes !== reader.remaining) throw corrupt(`${samples} samples in ${reader.remaining} bytes`);
  const values = readFloats(reader, samples);
  const times = log.keepsTimes ? readFloats(reader, samples) : undefined;
  let at = 0;
  for (let index = 0; index < slots.length; index++) {
    for (let left = counts[index]; left > 0; left--, at++) {
      log.add(slots[index], values[at], times === undefined ? 0 : times[at]);
    }
  }
}

export function writeSpec(writer: ByteWriter, spec: RangeSpec): void {
  writer.byte(VERSION);
  writer.byte(OPERATIONS.indexOf(spec.op));
  writer.byte((spec.unwrapped ? UNWRAPPED : 0) | (spec.parameter === undefined ? 0 : HAS_PARAMETER));
  const fixed = new DataView(new ArrayBuffer(48));
  [spec.startNs, spec.endNs, spec.stepNs, spec.rangeNs, spec.offsetNs].forEach((value, i) => {
    fixed.setBigInt64(i * 8, value, true);
  });
  fixed.setFloat64(40, spec.parameter ?? 0, true);
  writer.bytes(new Uint8Array(fixed.buffer));
}

/** Reads the specification. Throws CorruptionError. */
export function readSpec(reader: ByteReader): RangeSpec {
  const version = reader.byte();
  if (version !== VERSION) throw corrupt(`version ${version}`);
  const op = OPERATIONS[reader.byte()];
  const flags = reader.byte();
  if (op === undefined || flags > (UNWRAPPED | HAS_PARAMETER)) throw corrupt('unknown operation');
  const fixed = reader.bytes(48);
  const startNs = fixed.readBigInt64LE(0);
  const endNs = fixed.readBigInt64LE(8);
  const stepNs = fixed.readBigInt64LE(16);
  const rangeNs = fixed.readBigInt64LE(24);
  const offsetNs = fixed.readBigInt64LE(32);
  if (rangeNs < 0n || endNs < startNs || stepNs < 0n) throw corrupt('a negative range, step or interval');
  if (stepNs > 0n && (endNs - startNs) / stepNs >= BigInt(MAX_STEPS)) throw corrupt('too many steps');
  const parameter = (flags & HAS_PARAMETER) === 0 ? undefined : fixed.readDoubleLE(40);
  return { op, parameter, startNs, endNs, stepNs, rangeNs, offsetNs, unwrapped: (flags & UNWRAPPED) !== 0 };
}

function writeFloats(writer: ByteWriter, column: Float64Array): void {
  writer.bytes(new Uint8Array(column.buffer, column.byteOffset, column.byteLength));
}

/** Copies, because a Float64Array must be aligned. */
function readFloats(reader: ByteReader, count: number): Float64Array {
  const bytes = reader.bytes(count * 8);
  const column = new Float64Array(count);
  new Uint8Array(column.buffer).set(bytes);
  return column;
}

function corrupt(what: string): CorruptionError {
  return new CorruptionError(`partial state of a range aggregation: ${what}`);
}
