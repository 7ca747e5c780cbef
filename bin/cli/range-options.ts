/** Options for time ranges and integers, shared by all commands. */

import { type Command, InvalidArgumentError, Option } from 'commander';
import { parsePrometheusDuration } from '../../shared/base/model/duration.ts';
import { MAX_INT64 } from '../../shared/base/model/int64.ts';
import { SYSTEM_CLOCK } from '../../shared/base/runtime/system-clock.ts';
import { MAX_DELAY_SECONDS } from '../../shared/read/tail/bounds.ts';
import { UsageError } from './command-error.ts';
import { parseGivenTime } from './given-time.ts';
import { type NsRange, rangeOf } from './time-text.ts';
import { addTimeZoneOption } from './time-zone.ts';

export interface RangeFlags {
  readonly since: bigint;
  /** Times as typed: their time zone is known only when the command runs. */
  readonly from?: string;
  readonly to?: string;
}

/** Maximum that stores keep in 32 bits. */
const MAX_COUNT = 2 ** 31 - 1;

export const TIME_NOTE =
  'A time is now, now-2h, 2026-01-05, "2026-01-05 10:00" (in --timezone), RFC 3339, Unix seconds or nanoseconds.';
const TIME_HELP =
  'A time is written like now-2h, 2026-01-05, "2026-01-05 10:00", 2026-01-05T10:00:00Z, or in Unix seconds or nanoseconds.';

const TO = () => new Option('--to <time>', 'end (default: now)').argParser(checkTime);

/** @param to in place of the usual option --to */
export function addRangeOptions(command: Command, since = '1h', to = TO()): Command {
  return addTimeZoneOption(command)
    .addOption(
      new Option('--since <duration>', 'look back from --to, for example 90s, 15m, 1h30m, 7d')
        .argParser(parseSince)
        .default(parsePrometheusDuration(since), since)
        .conflicts('from'),
    )
    .addOption(new Option('--from <time>', 'start').argParser(checkTime))
    .addOption(to);
}

/** Throws UsageError if the range ends before it starts. */
export function rangeOfFlags({ since, from, to }: RangeFlags): NsRange {
  const range = rangeOf({ sinceNs: since, from, to }, SYSTEM_CLOCK.nowNs());
  if (range.endNs < range.startNs) throw new UsageError('the end of the range is before its start');
  return range;
}

export function parseSince(text: string): bigint {
  try {
    return parsePrometheusDuration(text);
  } catch {
    throw new InvalidArgumentError('A duration is written like 90s, 15m, 1h30m or 7d.');
  }
}

/** The text, if it is a valid time. Throws InvalidArgumentError. */
export function checkTime(text: string): string {
  parseTime(text);
  return text;
}

/** Unix nanoseconds. Throws InvalidArgumentError. */
export function parseTime(text: string): bigint {
  try {
    const ns = parseGivenTime(text, SYSTEM_CLOCK.nowNs());
    if (ns <= MAX_INT64 && ns >= -MAX_INT64) return ns;
  } catch {
    // The message below shows the format of a time.
  }
  throw new InvalidArgumentError(TIME_HELP);
}

/** Integer from 0. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > MAX_COUNT)
    throw new InvalidArgumentError('Expected a whole number from 0.');
  return count;
}

/** Integer from 1. */
export function parsePositive(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count === 0 || count > MAX_COUNT)
    throw new InvalidArgumentError('Expected a whole number from 1.');
  return count;
}

/** Seconds by which a tail may delay entries. */
export function parseDelay(text: string): number {
  const seconds = Number(text);
  if (!/^\d$/.test(text) || seconds > MAX_DELAY_SECONDS)
    throw new InvalidArgumentError(`Expected a whole number of seconds from 0 to ${MAX_DELAY_SECONDS}.`);
  return seconds;
}
