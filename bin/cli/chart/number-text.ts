/** Formats the numbers of a chart in few characters: `950`, `1.2k`, `3.4M`, `0.025`, `2e-7`. */

const UNITS: readonly (readonly [number, string])[] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];
/** Minimum value that is written without an exponent. Below, the decimals would only be zeros. */
const LEAST_PLAIN = 1e-3;

export function shortNumber(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : value < 0 ? '-Inf' : 'NaN';
  const size = Math.abs(value);
  if (size === 0) return '0';
  if (size >= 1e15 || size < LEAST_PLAIN) return trimmed(value.toExponential(digits - 1));
  for (const [unit, name] of UNITS) {
    if (size >= unit) return `${trimmed((value / unit).toPrecision(digits))}${name}`;
  }
  return trimmed(value.toPrecision(digits));
}

/** Removes trailing zeros of decimals, and the exponent that toPrecision(3) writes for 1000. */
function trimmed(text: string): string {
  const [number, exponent] = text.split('e');
  if (exponent !== undefined && Number(exponent) >= 0 && Number(exponent) < 6) return `${Number(text)}`;
  const short = number.includes('.') ? number.replace(/\.?0+$/, '') : number;
  return exponent === undefined ? short : `${short}e${Number(exponent)}`;
}
