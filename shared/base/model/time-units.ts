/**
 * Units of time. `NS_PER_...` are bigint, for Unix times. `NS_OF_...` are numbers, for times inside a day, which are exact (47 bits), and
 * for floats.
 */
export const MS_PER_SECOND = 1000;
export const MS_PER_MINUTE = 60 * MS_PER_SECOND;
export const MS_PER_HOUR = 60 * MS_PER_MINUTE;
export const MS_PER_DAY = 24 * MS_PER_HOUR;
export const SECONDS_PER_HOUR = 3600;
export const SECONDS_PER_DAY = 24 * SECONDS_PER_HOUR;

export const NS_PER_MS = 1_000_000n;
export const NS_PER_SECOND = 1000n * NS_PER_MS;
export const NS_PER_MINUTE = 60n * NS_PER_SECOND;
export const NS_PER_DAY = 1440n * NS_PER_MINUTE;

export const NS_OF_SECOND = 1e9;
export const NS_OF_MINUTE = 60 * NS_OF_SECOND;
export const NS_OF_HOUR = 60 * NS_OF_MINUTE;
export const NS_OF_DAY = 24 * NS_OF_HOUR;
