/** Formats numbers for people. */
const BYTE_UNITS = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'];
const COUNT = numberFormat({ maximumFractionDigits: 0 });
const SHORT = numberFormat({ notation: 'compact', maximumFractionDigits: 1 });
const VALUE = numberFormat({ maximumSignificantDigits: 4 });
/** Has all digits before the point, so that a count is exact. */
const LARGE_VALUE = numberFormat({ maximumFractionDigits: 1 });

/** Created when it is first used: the first one takes a browser 15 ms, and the first paint has no numbers. */
function numberFormat(options: Intl.NumberFormatOptions): (value: number) => string {
  let format: Intl.NumberFormat | undefined;
  return value => {
    format ??= new Intl.NumberFormat('en', options);
    return format.format(value);
  };
}

export function bytesText(bytes: number): string {
  let unit = 0;
  let value = bytes;
  while (value >= 1000 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${BYTE_UNITS[unit]}`;
}

/** Text such as 12,345. */
export function countText(count: number): string {
  return COUNT(count);
}

/** `1 line`, `12,345 lines` */
export function manyText(count: number, noun: string): string {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

/** Text such as 12.3K. */
export function shortText(count: number): string {
  return SHORT(count);
}

/** Sample of a query; very small and very large ones have an exponent. */
export function quantityText(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e12)) return value.toExponential(3);
  return size < 1000 ? VALUE(value) : LARGE_VALUE(value);
}

export function secondsText(seconds: number): string {
  return seconds < 1 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : `${seconds.toFixed(1)} s`;
}

/** Duration in seconds as text; 0.00035 is 350 µs. */
export function durationText(seconds: number): string {
  const size = Math.abs(seconds);
  if (!Number.isFinite(size) || size === 0) return size === 0 ? '0 s' : quantityText(seconds);
  if (size < 1e-6) return `${VALUE(seconds * 1e9)} ns`;
  if (size < 1e-3) return `${VALUE(seconds * 1e6)} µs`;
  if (size < 1) return `${VALUE(seconds * 1000)} ms`;
  if (size < 120) return `${VALUE(seconds)} s`;
  return size < 7200 ? `${VALUE(seconds / 60)} min` : `${VALUE(seconds / 3600)} h`;
}

/** Formatters by unit. A percentage is a value from 0 to 1. */
export const UNIT_TEXTS: Readonly<
  Record<'bytes' | 'seconds' | 'number' | 'percent', (value: number) => string>
> = {
  bytes: bytesText,
  seconds: durationText,
  number: quantityText,
  percent: value => `${quantityText(value * 100)}%`,
};

/** Percentage of a share from 0 to 1; a small nonzero share is not shown as 0. */
export function percentText(share: number): string {
  if (share === 0) return '0%';
  if (share < 0.001) return '<0.1%';
  return share < 0.0995 ? `${(share * 100).toFixed(1)}%` : `${Math.round(share * 100)}%`;
}
