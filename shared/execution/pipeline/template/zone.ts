/**
 * Time zones: UTC, the process's zone, IANA names (through Intl) and fixed offsets in parsed dates. Intl
 * knows few abbreviations outside the country of its locale. The lookup therefore tries several locales, then
 * a short table. Without an abbreviation, the offset is used (`+03`), as in the zone database that Go reads.
 */
import { MAX_CACHED_ZONES } from './bounds.ts';

export interface Zone {
  /** Returns the offset east of UTC in seconds, and the abbreviation, at a Unix time in seconds. */
  at(unixSeconds: number): { offsetSeconds: number; abbreviation: string };
}

export const UTC: Zone = fixedZone('UTC', 0);

export function fixedZone(abbreviation: string, offsetSeconds: number): Zone {
  const answer = { offsetSeconds, abbreviation };
  return { at: () => answer };
}

const ZONES = new Map<string, Zone | undefined>();

/**
 * Returns the zone of an IANA name, or undefined if it does not exist. `""` and `UTC` are UTC, `Local` is the
 * process's zone.
 */
export function zoneNamed(name: string): Zone | undefined {
  if (name === '' || name === 'UTC') return UTC;
  const ianaName = name === 'Local' ? localName() : name;
  if (ianaName === 'UTC' || ianaName === 'Etc/UTC') return UTC;
  if (ZONES.has(ianaName)) return ZONES.get(ianaName);
  if (ZONES.size >= MAX_CACHED_ZONES) ZONES.clear();
  const zone = intlZone(ianaName);
  ZONES.set(ianaName, zone);
  return zone;
}

let local = { TZ: process.env.TZ, name: '' };

/** Returns the process's zone. The lookup takes 50 µs, so it is cached until the environment changes. */
function localName(): string {
  const { TZ } = process.env;
  if (local.name === '' || local.TZ !== TZ) {
    local = { TZ, name: new Intl.DateTimeFormat().resolvedOptions().timeZone };
  }
  return local.name;
}

export function localZone(): Zone {
  return zoneNamed('Local') ?? UTC;
}

const LOCALES = ['en-US', 'en-GB', 'en-AU', 'en-NZ', 'en-IN', 'en-ZA'];
const ABBREVIATIONS = new Map<string, string>([
  ['Asia/Tokyo', 'JST'],
  ['Asia/Seoul', 'KST'],
  ['Asia/Shanghai', 'CST'],
  ['Asia/Taipei', 'CST'],
  ['Asia/Hong_Kong', 'HKT'],
  ['Asia/Manila', 'PST'],
  ['Asia/Karachi', 'PKT'],
  ['Asia/Jakarta', 'WIB'],
  ['Europe/Moscow', 'MSK'],
  ['Africa/Lagos', 'WAT'],
  ['Africa/Nairobi', 'EAT'],
]);
/** Farthest instant of a JavaScript date. Zones have no rules beyond it. */
const MAX_DATE_SECONDS = 8.64e12;
const OFFSET = /^GMT(?:([+-])(\d{2}):(\d{2})(?::(\d{2}))?)?$/;

function intlZone(name: string): Zone | undefined {
  // Intl accepts names in any case and offsets such as `+01:00`; Go accepts only file names.
  if (!/^[A-Z][A-Za-z0-9_+-]*(\/[A-Z][A-Za-z0-9_+-]*)*$/.test(name)) return undefined;
  let offsets: Intl.DateTimeFormat;
  let names: Intl.DateTimeFormat[];
  try {
    offsets = format('en-US', name, 'longOffset');
    names = LOCALES.map(locale => format(locale, name, 'short'));
  } catch {
    return undefined;
  }
  let lastQuarter = Number.NaN;
  let last = { offsetSeconds: 0, abbreviation: '' };
  return {
    at(unixSeconds) {
      // Offsets change only at quarters of an hour.
      const quarter = Math.floor(unixSeconds / 900);
      if (quarter !== lastQuarter) {
        const clamped = Math.min(Math.max(unixSeconds, -MAX_DATE_SECONDS), MAX_DATE_SECONDS);
        const date = new Date(clamped * 1000);
        const offsetSeconds = parseOffset(zonePart(offsets, date));
        last = { offsetSeconds, abbreviation: abbreviate(name, names, date, offsetSeconds) };
        lastQuarter = quarter;
      }
      return last;
    },
  };
}

function format(locale: string, timeZone: string, timeZoneName: 'longOffset' | 'short') {
  return new Intl.DateTimeFormat(locale, { timeZone, timeZoneName, hour: 'numeric' });
}

function zonePart(format: Intl.DateTimeFormat, date: Date): string {
  return format.formatToParts(date).find(part => part.type === 'timeZoneName')?.value ?? 'GMT';
}

function parseOffset(text: string): number {
  const match = OFFSET.exec(text);
  if (match === null || match[1] === undefined) return 0;
  const seconds = Number(match[2]) * 3600 + Number(match[3]) * 60 + Number(match[4] ?? 0);
  return match[1] === '-' ? -seconds : seconds;
}

function abbreviate(name: string, formats: Intl.DateTimeFormat[], date: Date, offsetSeconds: number): string {
  // Before time zones, every town had a local mean time with an odd offset.
  if (offsetSeconds % 900 !== 0) return 'LMT';
  const listed = ABBREVIATIONS.get(name);
  if (listed !== undefined) return listed;
  for (const candidate of formats) {
    const short = zonePart(candidate, date);
    if (!/[+\-\u2212\d]/.test(short)) return short;
  }
  const sign = offsetSeconds < 0 ? '-' : '+';
  const minutes = Math.floor(Math.abs(offsetSeconds) / 60);
  const rest = minutes % 60 === 0 ? '' : String(minutes % 60).padStart(2, '0');
  return sign + String(Math.floor(minutes / 60)).padStart(2, '0') + rest;
}
