/** Formats numbers in query text as Go's fmt does: `%v` for literals and `%f` for vector(). */

/** Formats as Go's `%v`: the shortest digits, with an exponent below 1e-4 and from 1e6. */
export function formatGo(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (value === 0) return Object.is(value, -0) ? '-0' : '0';
  const [mantissa, exponentText] = value.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(value);
  const power = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${power}`;
}

/** Formats as Go's `%f`: six decimals, never an exponent. */
export function formatFixed(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  if (Math.abs(value) < 1e21) return value.toFixed(6);
  return `${BigInt(value)}.000000`;
}
