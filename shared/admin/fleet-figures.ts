/**
 * Counters of all function instances as one page of metrics, and the folding of those that are gone. How they are encoded
 * is known here alone: deflated text of the exposition (metrics/exposition.ts).
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import {
  FORGOTTEN_AFTER_MS,
  MAX_FOLDED,
  type MetricRecords,
  type StoredInstance,
} from '../catalog/metric-records.ts';
import { invariant } from '../model/errors.ts';
import type { Clock } from '../ports/clock.ts';
import {
  type Exposition,
  ExpositionSum,
  parseExposition,
  printExposition,
  withoutGauges,
} from './metrics/exposition.ts';

/** Tenants with series of their own in one instance: its record is written each minute. */
export const MAX_TENANTS_OF_INSTANCE = 50;
/** On the page, and in the total, which is one item of the table: 20 series each, about 10 bytes a series when deflated. */
const MAX_TENANTS = 500;
/** Of an item of the table, with room for what stands beside it. */
const MAX_STORED_BYTES = 360 * 1024;
/** What an instance's figures may inflate to: what one prints is some 200 KB. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;
/** Folds of one call: more are left to the next one, minutes later. */
const MAX_FOLDS = 20;

/** Of a process and of no use beside others. */
const OWN = /^(process_|nodejs_|loki_build_info$)/;

/** What others are told of a registry's text. */
export function figuresToTell(text: string): Exposition {
  return new Map([...parseExposition(text)].filter(([name]) => !OWN.test(name)));
}

/** What is told of the one that answers alone. */
export function figuresToShow(text: string): Exposition {
  return new Map([...parseExposition(text)].filter(([name]) => OWN.test(name)));
}

export function encodeFigures(figures: Exposition): Buffer {
  const encoded = deflateRawSync(printExposition(figures));
  invariant(encoded.length <= MAX_STORED_BYTES, `figures fit an item: ${encoded.length} bytes`);
  return encoded;
}

export function decodeFigures(bytes: Uint8Array): Exposition {
  if (bytes.length === 0) return new Map();
  return parseExposition(inflateRawSync(bytes, { maxOutputLength: MAX_TEXT_BYTES }).toString());
}

/** All that was ever counted, and the gauges of those that are here. */
export async function sumOfFleet(records: MetricRecords): Promise<Exposition> {
  // In this order: one that is folded in between is missing for this once, and never counts twice.
  const instances = await records.list();
  const total = await records.total();
  const sum = new ExpositionSum({ maxTenants: MAX_TENANTS });
  sum.add(decodeFigures(total.figures));
  for (const { figures } of instances) sum.add(decodeFigures(figures));
  return sum.all;
}

/** Folds instances that were silent for long; resolves to how many. */
export async function foldFleet(records: MetricRecords, clock: Clock): Promise<number> {
  const isSilent = ({ member }: StoredInstance) => clock.nowMs() - member.heartbeatMs > FORGOTTEN_AFTER_MS;
  const silent = (await records.list()).filter(isSilent);
  let folded = 0;
  for (let i = 0; i < silent.length && i < MAX_FOLDED * MAX_FOLDS; i += MAX_FOLDED) {
    const part = silent.slice(i, i + MAX_FOLDED);
    const before = await records.total();
    const sum = new ExpositionSum({ maxTenants: MAX_TENANTS });
    sum.add(decodeFigures(before.figures));
    for (const { figures } of part) sum.add(withoutGauges(decodeFigures(figures)));
    // Somebody else is folding, or one of them woke up: the next call finds what is left.
    if (!(await records.fold(before, encodeFigures(sum.all), part))) break;
    folded += part.length;
  }
  return folded;
}
