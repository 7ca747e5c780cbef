/** Folders by which DuckDB, Athena and Spark know tenant, day and service of the files in them: `tenant=shop/day=2026-01-05/service=web`. */
import { createHash } from 'node:crypto';
import type { OpenEntry } from './parquet-file.ts';

/** Names of folders have 255 bytes, with what stands before the value. */
const MAX_VALUE_BYTES = 240;
/** Kept of a longer value; escaped, a character takes up to 12 bytes. The hash tells it from others. */
const KEPT_CHARACTERS = 15;
const HASH_DIGITS = 16;
const NO_SERVICE = 'unknown_service';
const MS_PER_NS = 1_000_000n;

export function hivePath({ timeNs, labels }: Pick<OpenEntry, 'timeNs' | 'labels'>, tenant: string): string {
  const service = labels.service_name ?? NO_SERVICE;
  return `tenant=${hiveValue(tenant)}/day=${dayText(timeNs)}/service=${hiveValue(service)}`;
}

/** `2026-01-05`, in UTC. */
function dayText(timeNs: bigint): string {
  const rest = ((timeNs % MS_PER_NS) + MS_PER_NS) % MS_PER_NS;
  return new Date(Number((timeNs - rest) / MS_PER_NS)).toISOString().slice(0, 10);
}

/** Hive writes what a path cannot hold as %XX. Different values are different. */
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
