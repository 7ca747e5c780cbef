/**
 * Folder names from which DuckDB, Athena and Spark read tenant, day and service of the files:
 * `tenant=shop/day=2026-01-05/service=web`.
 */
import type { OpenEntry } from './parquet-file.ts';

/** File names have at most 255 bytes, and an escaped byte takes three characters. */
const MAX_PATH_CHARACTERS = 60;
const NO_SERVICE = 'unknown_service';
const MS_PER_NS = 1_000_000n;

export function hivePath({ timeNs, labels }: Pick<OpenEntry, 'timeNs' | 'labels'>, tenant: string): string {
  const service = labels.service_name ?? NO_SERVICE;
  return `tenant=${hiveValue(tenant)}/day=${dayText(timeNs)}/service=${hiveValue(service)}`;
}

/** Formats the UTC day: `2026-01-05`. */
function dayText(timeNs: bigint): string {
  const rest = ((timeNs % MS_PER_NS) + MS_PER_NS) % MS_PER_NS;
  return new Date(Number((timeNs - rest) / MS_PER_NS)).toISOString().slice(0, 10);
}

/** Escapes characters that a path cannot contain as %XX, like Hive. */
export function hiveValue(value: string): string {
  const text = value === '' ? '__HIVE_DEFAULT_PARTITION__' : value;
  return [...Buffer.from(text.slice(0, MAX_PATH_CHARACTERS))]
    .map(byte => {
      const character = String.fromCharCode(byte);
      return /[A-Za-z0-9_-]/.test(character) || (character === '.' && !/^\.+$/.test(text))
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    })
    .join('');
}
