/** The options that name a time range, and whole numbers: the same for every command that has them. */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../local/system-clock.ts';
import { parsePrometheusDuration } from '../../shared/model/duration.ts';
import { messageOf } from '../../shared/model/errors.ts';
import { UsageError } from './command-error.ts';
import { type NsRange, parseInstant, rangeOf } from './time-text.ts';

export interface RangeFlags {
  readonly since: bigint;
  readonly from?: bigint;
  readonly to?: bigint;
}

/** What stores keep in 32 bits. */
const MAX_COUNT = 2 ** 31 - 1;

export const TIME_NOTE = 'Times are RFC 3339, Unix seconds, Unix nanoseconds or "now".';

export function addRangeOptions(command: Command, since = '1h'): Command {
  return command
    .addOption(
      new Option('--since <duration>', 'look back from --to, for example 90s, 15m, 1h30m, 7d')
        .argParser(parseSince)
        .default(parsePrometheusDuration(since), since)
        .conflicts('from'),
    )
    .addOption(new Option('--from <time>', 'start').argParser(parseTime))
    .addOption(new Option('--to <time>', 'end (default: now)').argParser(parseTime));
}

/** Throws UsageError where the range ends before it starts. */
export function rangeOfFlags({ since, from, to }: RangeFlags): NsRange {
  const range = rangeOf({ sinceNs: since, from, to }, systemClock.nowNs());
  if (range.endNs < range.startNs) throw new UsageError('the end of the range is before its start');
  return range;
}

export function parseSince(text: string): bigint {
  return checked(() => parsePrometheusDuration(text), 'A duration is written like 90s, 15m, 1h30m or 7d');
}

export function parseTime(text: string): bigint {
  return checked(
    () => parseInstant(text, systemClock.nowNs()),
    'A time is written like 2026-01-05T10:00:00Z, in Unix seconds or nanoseconds, or "now"',
  );
}

function checked<T>(parse: () => T, help: string): T {
  try {
    return parse();
  } catch (error) {
    throw new InvalidArgumentError(`${help} (${messageOf(error)}).`);
  }
}

/** From 0. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count > MAX_COUNT)
    throw new InvalidArgumentError('A whole number from 0 is needed.');
  return count;
}

/** From 1. */
export function parsePositive(text: string): number {
  const count = Number(text);
  if (!/^\d+$/.test(text) || count === 0 || count > MAX_COUNT)
    throw new InvalidArgumentError('A whole number from 1 is needed.');
  return count;
}
