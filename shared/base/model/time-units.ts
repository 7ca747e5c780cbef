/**
 * Units of time: the one set of these constants. A file that needs a short name in a dense table renames the import
 * (`import { NS_PER_SECOND as S }`).
 */

// Bigint units, for instants and durations, which may exceed 2^53 ns.
export const NS_PER_MS = 1_000_000n;
export const NS_PER_SECOND = 1_000_000_000n;
export const NS_PER_MINUTE = 60n * NS_PER_SECOND;
export const NS_PER_HOUR = 3600n * NS_PER_SECOND;
export const NS_PER_DAY = 86_400n * NS_PER_SECOND;

// Number units, for times of day and other values below 2^53 ns.
export const NS_OF_MS = 1_000_000;
export const NS_OF_SECOND = 1_000_000_000;
export const NS_OF_MINUTE = 60 * NS_OF_SECOND;
export const NS_OF_HOUR = 3600 * NS_OF_SECOND;
export const NS_OF_DAY = 86_400 * NS_OF_SECOND;

// Days since 1970 with times that are Unix ns in 64 bits.
export const FIRST_DAY = -106_752;
export const LAST_DAY = 106_751;

export const MS_PER_SECOND = 1000;
export const MS_PER_MINUTE = 60_000;
export const MS_PER_HOUR = 3_600_000;
export const MS_PER_DAY = 86_400_000;

export const SECONDS_PER_HOUR = 3600;
export const SECONDS_PER_DAY = 86_400;
export const MINUTES_PER_DAY = 1440;
