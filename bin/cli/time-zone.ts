/**
 * Time zone in which a command prints times and reads times without an offset. A named zone becomes the zone
 * of the process (the variable TZ), so that Node.js dates do the arithmetic.
 *
 * Pitfall: it is known only after all options are parsed. Parse times when the command runs.
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { MS_PER_MINUTE } from '../../shared/base/model/time-units.ts';

/** Printed times are in UTC by default; times without an offset are local. */
let printsLocal = false;
let readsLocal = true;

/** `-z, --timezone`, applied before the command runs. */
export function addTimeZoneOption(command: Command): Command {
  return command
    .addOption(
      new Option(
        '-z, --timezone <zone>',
        'time zone: Local, UTC, or a name such as Europe/Berlin (default: Local on a terminal, printed times in UTC elsewhere)',
      ).argParser(parseZone),
    )
    .hook('preAction', (_, running) => useTimeZone(running.opts<{ timezone?: string }>().timezone));
}

/** Selects the zone. Undefined prints local times on a terminal and UTC elsewhere, and reads local times. */
export function useTimeZone(zone: string | undefined): void {
  printsLocal = zone === undefined ? process.stdout.isTTY === true : zone !== 'UTC';
  readsLocal = zone !== 'UTC';
  if (zone !== undefined && zone !== 'UTC' && zone !== 'Local') process.env.TZ = zone;
}

function parseZone(text: string): string {
  const known = ['Local', 'UTC'].find(name => name.toLowerCase() === text.toLowerCase());
  if (known !== undefined) return known;
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    throw new InvalidArgumentError('A time zone is Local, UTC, or a name such as Europe/Berlin.');
  }
}

/** Offset to add to a Unix time before printing it, ms. */
export function shownOffsetMs(ms: number): number {
  return printsLocal ? localOffsetMs(ms) : 0;
}

/** Name of the zone of printed times, such as `UTC` or `UTC+02:00`. */
export function shownZoneName(ms: number): string {
  const minutes = shownOffsetMs(ms) / MS_PER_MINUTE;
  if (minutes === 0) return 'UTC';
  const size = Math.abs(minutes);
  const clock = [Math.floor(size / 60), Math.floor(size % 60)].map(part => String(part).padStart(2, '0'));
  return `UTC${minutes < 0 ? '-' : '+'}${clock.join(':')}`;
}

/** Unix milliseconds of a date and a time of day without an offset. */
export function readZoneMs(wallMs: number): number {
  if (!readsLocal) return wallMs;
  const wall = new Date(wallMs);
  return new Date(
    wall.getUTCFullYear(),
    wall.getUTCMonth(),
    wall.getUTCDate(),
    wall.getUTCHours(),
    wall.getUTCMinutes(),
    wall.getUTCSeconds(),
  ).getTime();
}

function localOffsetMs(ms: number): number {
  return -new Date(ms).getTimezoneOffset() * MS_PER_MINUTE;
}
