/**
 * Counters of all function instances as one page of metrics, and the folding of those that are gone. How they are encoded
 * is known here alone: deflated text of the exposition (metrics/exposition.ts).
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { invariant } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import {
  FORGOTTEN_AFTER_MS,
  MAX_FOLDED,
  type MetricRecords,
  type StoredInstance,
  type Total,
} from '../../storage/catalog/metric-records.ts';
import {
  type Exposition,
  ExpositionSum,
  parseExposition,
  printExposition,
  withoutGauges,
} from './metrics/exposition.ts';
import { MAX_NAMED_TENANTS } from './metrics/ingest-metrics.ts';

/** Tenants with series of their own in one instance: its record is written each minute. */
export const MAX_TENANTS_OF_INSTANCE = 50;
/** On the page of a fleet, and in its total, which is one item of the table: 20 series each, about 10 bytes a series when deflated. */
const MAX_TENANTS_OF_FLEET = 500;
/** Of an item of the table, with room for what stands beside it. */
const MAX_STORED_BYTES = 360 * 1024;
/** What an instance's figures may inflate to: what one prints is some 200 KB. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;
/** Tries to read between two folds, which come minutes apart: the last one counts as it is. */
const MAX_READS = 3;
/** Folds of one call: more are left to the next one, minutes later. */
const MAX_FOLDS = 20;

/** Of a process and of no use beside others. */
const OWN = /^(process_|nodejs_|loki_build_info$)/;

/** What others are told of a registry's text. */
export function figuresToTell(text: string): Exposition {
  return new Map([...parseExposition(text)].filter(([name]) => !OWN.test(name)));
}

/** Without what says nothing: the texts for people, which whoever shows them has too, and what was never counted. */
export function encodeFigures(figures: Exposition): Buffer {
  const counted = [...figures].filter(([, { samples }]) => [...samples.values()].some(value => value !== 0));
  const terse = new Map(counted.map(([name, family]) => [name, { ...family, help: '' }]));
  const encoded = deflate(terse);
  if (encoded.length <= MAX_STORED_BYTES) return encoded;
  // Policies are as many as the configuration names: then no tenant has series of its own.
  const nameless = new ExpositionSum({ maxTenants: 0 });
  nameless.add(terse);
  const smaller = deflate(nameless.all);
  invariant(smaller.length <= MAX_STORED_BYTES, `figures fit an item: ${smaller.length} bytes`);
  return smaller;
}

function deflate(figures: Exposition): Buffer {
  return deflateRawSync(printExposition(figures), { level: 9 });
}

export function decodeFigures(bytes: Uint8Array): Exposition {
  if (bytes.length === 0) return new Map();
  return parseExposition(inflateRawSync(bytes, { maxOutputLength: MAX_TEXT_BYTES }).toString());
}

/**
 * The page: what all of them counted, with the texts and the names that the one that answers has (`text`), and what tells of
 * that one alone.
 */
export async function fleetText(records: MetricRecords, text: string): Promise<string> {
  const own = parseExposition(text);
  const shown = new Map(await sumOfFleet(records));
  for (const [name, family] of own) {
    const known = shown.get(name);
    if (OWN.test(name)) shown.set(name, family);
    else shown.set(name, { ...family, samples: known?.samples ?? new Map() });
  }
  return printExposition(shown);
}

/** The page of a process of several threads: what all of them counted, and what tells of the process, which `own` alone has. */
export function processText(own: string, threads: readonly string[]): string {
  const sum = new ExpositionSum({ maxTenants: MAX_NAMED_TENANTS });
  const ofProcess = parseExposition(own);
  sum.add(ofProcess);
  for (const text of threads) sum.add(figuresToTell(text));
  return printExposition(sum.all);
}

/** All that was ever counted, and the gauges of those that are here. */
async function sumOfFleet(records: MetricRecords): Promise<Exposition> {
  const { total, instances } = await readFleet(records);
  const sum = new ExpositionSum({ maxTenants: MAX_TENANTS_OF_FLEET });
  sum.add(decodeFigures(total.figures));
  for (const { figures } of instances) sum.add(decodeFigures(figures));
  return sum.all;
}

/** As of one moment between two folds: one that is folded while others are read would be missing, or count twice. */
async function readFleet(
  records: MetricRecords,
): Promise<{ readonly total: Total; readonly instances: readonly StoredInstance[] }> {
  for (let tries = 1; ; tries++) {
    const total = await records.total();
    const instances = await records.list();
    const after = tries === MAX_READS ? total : await records.total();
    if (after.version === total.version) return { total, instances };
  }
}

/** Folds instances that were silent for long; resolves to how many. */
export async function foldFleet(records: MetricRecords, clock: Clock): Promise<number> {
  const isSilent = ({ member }: StoredInstance) => clock.nowMs() - member.heartbeatMs > FORGOTTEN_AFTER_MS;
  const silent = (await records.list()).filter(isSilent);
  let folded = 0;
  for (let i = 0; i < silent.length && i < MAX_FOLDED * MAX_FOLDS; i += MAX_FOLDED) {
    const part = silent.slice(i, i + MAX_FOLDED);
    const before = await records.total();
    const sum = new ExpositionSum({ maxTenants: MAX_TENANTS_OF_FLEET });
    sum.add(decodeFigures(before.figures));
    for (const { figures } of part) sum.add(withoutGauges(decodeFigures(figures)));
    // Somebody else is folding, or one of them woke up: the next call finds what is left.
    if (!(await records.fold(before, encodeFigures(sum.all), part))) break;
    folded += part.length;
  }
  return folded;
}
