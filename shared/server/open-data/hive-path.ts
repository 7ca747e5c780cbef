/**
 * Folder names from which DuckDB, Athena and Spark read tenant, day and service of the files:
 * `tenant=shop/day=2026-01-05/service=web`.
 */

import { createHash } from 'node:crypto';
import { floorDivide } from '../../base/model/floor-divide.ts';
import { NS_PER_DAY, NS_PER_MS } from '../../base/model/time-units.ts';

interface PlacedEntry {
  readonly timeNs: bigint;
  readonly labels: Readonly<Record<string, string>>;
}

/** File names have at most 255 bytes, including the part before the value. */
const MAX_VALUE_BYTES = 240;
/** Start of a longer value, followed by its hash. An escaped character takes up to 12 bytes. */
const KEPT_CHARACTERS = 15;
const HASH_DIGITS = 16;
const NO_SERVICE = 'unknown_service';

function hivePath({ timeNs, labels }: PlacedEntry, tenant: string): string {
  const service = labels.service_name ?? NO_SERVICE;
  return `tenant=${hiveValue(tenant)}/day=${dayText(timeNs)}/service=${hiveValue(service)}`;
}

/** Folder names of the entries of a tenant. Entries of one day and service share the name. */
export class HivePaths {
  readonly #tenant: string;
  #dayStartNs: bigint | undefined;
  #pathOfService = new Map<string | undefined, string>();

  constructor(tenant: string) {
    this.#tenant = tenant;
  }

  of(entry: PlacedEntry): string {
    const { timeNs } = entry;
    const dayStartNs = timeNs - (((timeNs % NS_PER_DAY) + NS_PER_DAY) % NS_PER_DAY);
    if (dayStartNs !== this.#dayStartNs) {
      this.#dayStartNs = dayStartNs;
      this.#pathOfService = new Map();
    }
    const service = entry.labels.service_name;
    let path = this.#pathOfService.get(service);
    if (path === undefined) {
      path = hivePath(entry, this.#tenant);
      this.#pathOfService.set(service, path);
    }
    return path;
  }
}

/** Formats the UTC day: `2026-01-05`. */
function dayText(timeNs: bigint): string {
  return new Date(Number(floorDivide(timeNs, NS_PER_MS))).toISOString().slice(0, 10);
}

/** Escapes characters that a path cannot contain as %XX, like Hive. Different values give different names. */
export function hiveValue(value: string): string {
  if (value === '') return '__HIVE_DEFAULT_PARTITION__';
  const text = escaped(value);
  if (text.length <= MAX_VALUE_BYTES) return text;
  const hash = createHash('sha256').update(value).digest('hex').slice(0, HASH_DIGITS);
  return `${escaped(value.slice(0, KEPT_CHARACTERS))}-${hash}`;
}

function escaped(value: string): string {
  return [...Buffer.from(value)]
    .map(byte => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9_-]/.test(character) || (character === '.' && !/^\.+$/.test(value))
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}
