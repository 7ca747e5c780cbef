/**
 * Combines the counters of all function instances into one page of metrics, and folds those of ended
 * instances into a total. Only this module knows their encoding: deflated text of the exposition
 * (metrics/exposition.ts).
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

/** Tenants with separate series in one instance. Its record is written every minute. */
export const MAX_TENANTS_OF_INSTANCE = 50;
/**
 * Tenants with separate series on the page of a fleet, and in its total, which is one item of the table. Each
 * has 20 series of about 10 bytes when deflated.
 */
const MAX_TENANTS_OF_FLEET = 500;
/** Maximum size in an item of the table, with space for its other fields. */
const MAX_STORED_BYTES = 360 * 1024;
/** Maximum inflated size of an instance's figures. One instance prints about 200 KB. */
const MAX_TEXT_BYTES = 8 * 1024 * 1024;
/** Attempts to read between two folds, which are minutes apart. The last result is used unconditionally. */
const MAX_READS = 3;
/** Folds per call. A call some minutes later continues. */
const MAX_FOLDS = 20;

/** Metrics of one process, which are useless in a sum. */
const OWN = /^(process_|nodejs_|loki_build_info$)/;

/** Metrics of a registry that are reported to others. */
export function figuresToReport(text: string): Exposition {
  return new Map([...parseExposition(text)].filter(([name]) => !OWN.test(name)));
}

/** Encodes without redundant parts: help texts, which the program that shows them has, and zero counters. */
export function encodeExposition(figures: Exposition): Buffer {
  const counted = [...figures].filter(([, { samples }]) => [...samples.values()].some(value => value !== 0));
  const terse = new Map(counted.map(([name, family]) => [name, { ...family, help: '' }]));
  const encoded = deflate(terse);
  if (encoded.length <= MAX_STORED_BYTES) return encoded;
  // The configuration bounds the number of policies, so without tenants the result fits.
  const nameless = new ExpositionSum({ maxTenants: 0 });
  nameless.add(terse);
  const smaller = deflate(nameless.all);
  invariant(smaller.length <= MAX_STORED_BYTES, `figures must fit an item, have ${smaller.length} bytes`);
  return smaller;
}

function deflate(figures: Exposition): Buffer {
  return deflateRawSync(printExposition(figures), { level: 9 });
}

export function decodeExposition(bytes: Uint8Array): Exposition {
  if (bytes.length === 0) return new Map();
  return parseExposition(inflateRawSync(bytes, { maxOutputLength: MAX_TEXT_BYTES }).toString());
}

/**
 * Page with the counters of all instances. The serving instance provides help texts, names and its own
 * process metrics (`text`).
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

/**
 * Page of a process with several threads: counters of all threads, and process metrics, which only `own`
 * contains.
 */
export function processText(own: string, threads: readonly string[]): string {
  const sum = new ExpositionSum({ maxTenants: MAX_NAMED_TENANTS });
  const ofProcess = parseExposition(own);
  sum.add(ofProcess);
  for (const text of threads) sum.add(figuresToReport(text));
  return printExposition(sum.all);
}

/** Counters of all past and present instances, and gauges of the present ones. */
async function sumOfFleet(records: MetricRecords): Promise<Exposition> {
  const { total, instances } = await readFleet(records);
  const sum = new ExpositionSum({ maxTenants: MAX_TENANTS_OF_FLEET });
  sum.add(decodeExposition(total.figures));
  for (const { figures } of instances) sum.add(decodeExposition(figures));
  return sum.all;
}

/**
 * Reads a consistent state between two folds. Otherwise an instance folded during the read would be missing
 * or count twice.
 */
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

/** Folds instances without a recent heartbeat. Resolves to their number. */
export async function foldFleet(records: MetricRecords, clock: Clock): Promise<number> {
  const isSilent = ({ member }: StoredInstance) => clock.nowMs() - member.heartbeatMs > FORGOTTEN_AFTER_MS;
  const silent = (await records.list()).filter(isSilent);
  let folded = 0;
  for (let i = 0; i < silent.length && i < MAX_FOLDED * MAX_FOLDS; i += MAX_FOLDED) {
    const part = silent.slice(i, i + MAX_FOLDED);
    const before = await records.total();
    const sum = new ExpositionSum({ maxTenants: MAX_TENANTS_OF_FLEET });
    sum.add(decodeExposition(before.figures));
    for (const { figures } of part) sum.add(withoutGauges(decodeExposition(figures)));
    // Another process is folding, or an instance is active again. The next call continues.
    if (!(await records.fold(before, encodeExposition(sum.all), part))) break;
    folded += part.length;
  }
  return folded;
}
