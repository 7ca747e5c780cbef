/**
 * Instant with its zone, and calendar arithmetic. JavaScript's dates have millisecond resolution and end in
 * the year 275760, and Go's zero time is in the year 1.
 */
import { floorDivide } from '../../../base/model/floor-divide.ts';
import { NS_PER_SECOND, SECONDS_PER_DAY } from '../../../base/model/time-units.ts';
import type { Zone } from './zone.ts';
import { UTC } from './zone.ts';

/** Fields of an instant in its zone. */
export interface TimeFields {
  readonly year: number;
  /** Month, 1 to 12. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
  readonly nanosecond: number;
  /** Weekday; 0 is Sunday. */
  readonly weekday: number;
  /** Day of the year; 1 is January 1. */
  readonly yearDay: number;
  readonly offsetSeconds: number;
  readonly abbreviation: string;
}

export class GoTime {
  /** Unix time, ns. */
  readonly ns: bigint;
  readonly zone: Zone;

  constructor(ns: bigint, zone: Zone) {
    this.ns = ns;
    this.zone = zone;
  }

  static ofSeconds(seconds: bigint, zone: Zone): GoTime {
    return new GoTime(seconds * NS_PER_SECOND, zone);
  }

  in(zone: Zone): GoTime {
    return new GoTime(this.ns, zone);
  }

  unixSeconds(): bigint {
    return floorDivide(this.ns, NS_PER_SECOND);
  }

  clock(): TimeFields {
    const seconds = this.unixSeconds();
    const nanosecond = Number(this.ns - seconds * NS_PER_SECOND);
    const { offsetSeconds, abbreviation } = this.zone.at(Number(seconds));
    const local = Number(seconds) + offsetSeconds;
    const days = Math.floor(local / SECONDS_PER_DAY);
    const rest = local - days * SECONDS_PER_DAY;
    const date = civilFromDays(days);
    return {
      ...date,
      hour: Math.floor(rest / 3600),
      minute: Math.floor(rest / 60) % 60,
      second: rest % 60,
      nanosecond,
      weekday: (((days + 4) % 7) + 7) % 7,
      yearDay: days - daysFromCivil(date.year, 1, 1) + 1,
      offsetSeconds,
      abbreviation,
    };
  }
}

/** Go's zero time, the result for an unreadable date: January 1 of the year 1, UTC. */
export const ZERO_TIME = new GoTime(-62_135_596_800n * NS_PER_SECOND, UTC);

const DAYS_PER_ERA = 146_097;

/** Returns days since 1970-01-01 for a Gregorian date; the month may be outside 1 to 12. */
export function daysFromCivil(year: number, month: number, day: number): number {
  const monthsFromZero = year * 12 + (month - 1);
  // In years that begin in March, the leap day is last.
  const shifted = monthsFromZero - 2;
  const marchYear = Math.floor(shifted / 12);
  const marchMonth = shifted - marchYear * 12;
  const era = Math.floor(marchYear / 400);
  const yearOfEra = marchYear - era * 400;
  const dayOfYear = Math.floor((153 * marchMonth + 2) / 5) + day - 1;
  const dayOfEra = yearOfEra * 365 + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100) + dayOfYear;
  return era * DAYS_PER_ERA + dayOfEra - 719_468;
}

function civilFromDays(days: number): { year: number; month: number; day: number } {
  const shifted = days + 719_468;
  const era = Math.floor(shifted / DAYS_PER_ERA);
  const dayOfEra = shifted - era * DAYS_PER_ERA;
  const leapFree =
    dayOfEra - Math.floor(dayOfEra / 1460) + Math.floor(dayOfEra / 36_524) - Math.floor(dayOfEra / 146_096);
  const yearOfEra = Math.floor(leapFree / 365);
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  return { year: yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day };
}

export function daysInMonth(year: number, month: number): number {
  return daysFromCivil(year, month + 1, 1) - daysFromCivil(year, month, 1);
}

/** Returns seconds since 1970 without a zone; the hour may have any value. */
export function wallSeconds(date: {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}): number {
  const days = daysFromCivil(date.year, date.month, date.day);
  return days * SECONDS_PER_DAY + date.hour * 3600 + date.minute * 60 + date.second;
}

/**
 * Returns the instant at which the zone's clock shows `seconds`. If there are two, the earlier offset wins; a
 * gap is skipped.
 */
export function instantOfWall(seconds: number, nanosecond: number, zone: Zone): GoTime {
  const guess = zone.at(seconds).offsetSeconds;
  const offset = zone.at(seconds - guess).offsetSeconds;
  return new GoTime(BigInt(seconds - offset) * NS_PER_SECOND + BigInt(nanosecond), zone);
}
