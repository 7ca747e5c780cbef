/**
 * Go's `strconv.FormatFloat`. It rounds half to even on the exact binary value (`%.2f` of 610.125 is 610.12),
 * whereas JavaScript's toFixed rounds half up. Digits are therefore computed with exact integer arithmetic.
 */

/** Decimal digits of a finite number `0.d1d2d3... * 10^point`; zero has no digits. */
interface DecimalDigits {
  digits: string;
  point: number;
}

const SHORTEST_EXPONENT_LIMIT = 6;

/** Returns the shortest digits that read back as the same number. */
function shortest(value: number): DecimalDigits {
  if (value === 0) return { digits: '', point: 0 };
  const [mantissa, exponent] = value.toExponential().split('e');
  return { digits: mantissa.replace('.', ''), point: Number(exponent) + 1 };
}

function mantissaAndExponent(value: number): { mantissa: bigint; exponent: number } {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  const bits = view.getBigUint64(0);
  const fraction = bits & ((1n << 52n) - 1n);
  const biased = Number((bits >> 52n) & 0x7ffn);
  if (biased === 0) return { mantissa: fraction, exponent: -1074 };
  return { mantissa: fraction | (1n << 52n), exponent: biased - 1075 };
}

/** Returns all digits, at most 770. */
function exact(value: number): DecimalDigits {
  if (value === 0) return { digits: '', point: 0 };
  const { mantissa, exponent } = mantissaAndExponent(value);
  if (exponent >= 0) {
    const digits = (mantissa << BigInt(exponent)).toString();
    return { digits, point: digits.length };
  }
  const digits = (mantissa * 5n ** BigInt(-exponent)).toString();
  return { digits, point: digits.length + exponent };
}

function roundTo(decimal: DecimalDigits, count: number): DecimalDigits {
  const { digits, point } = decimal;
  if (count < 0 || digits === '') return { digits: '', point: 0 };
  if (count >= digits.length) return decimal;
  const kept = digits.slice(0, count);
  const next = digits[count];
  const isHalf = next === '5' && /^0*$/.test(digits.slice(count + 1));
  const odd = count > 0 && Number(digits[count - 1]) % 2 === 1;
  const up = isHalf ? odd : next >= '5';
  if (!up) return { digits: kept, point };
  const raised = (BigInt(kept || '0') + 1n).toString().padStart(count, '0');
  if (raised.length === count) return { digits: raised, point };
  return { digits: raised.slice(0, Math.max(count, 1)), point: point + 1 };
}

/**
 * Formats a float64. `verb` is one of `e E f g G b x X`; precision -1 is the shortest. `%g` uses an exponent
 * below 1e-4 and from 10^precision on; the shortest precision counts as 6.
 */
export function formatFloat(value: number, verb: string, precision: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (value === Infinity) return '+Inf';
  if (value === -Infinity) return '-Inf';
  const sign = value < 0 || Object.is(value, -0) ? '-' : '';
  const size = Math.abs(value);
  switch (verb) {
    case 'b':
      return sign + binary(size);
    case 'x':
    case 'X': {
      const text = hexadecimal(size, precision);
      return sign + (verb === 'X' ? text.toUpperCase() : text);
    }
    case 'e':
    case 'E': {
      const decimal = precision < 0 ? shortest(size) : roundTo(exact(size), precision + 1);
      return sign + exponential(decimal, precision < 0 ? decimal.digits.length - 1 : precision, verb);
    }
    case 'f':
    case 'F': {
      if (size < 1e21 && precision >= 0 && precision <= 20 && !isTie(size, precision)) {
        return sign + size.toFixed(precision);
      }
      const all = precision < 0 ? shortest(size) : exact(size);
      const decimal = precision < 0 ? all : roundTo(all, all.point + precision);
      return sign + plain(decimal, precision < 0 ? all.digits.length - all.point : precision);
    }
    default:
      return sign + general(size, verb === 'G' ? 'E' : 'e', precision);
  }
}

/**
 * Returns whether the digits after the last decimal may be exactly a half: only multiples of 2^-(places+1)
 * are.
 */
function isTie(size: number, places: number): boolean {
  return Number.isInteger(size * 2 ** (places + 1)) && !Number.isInteger(size);
}

function general(size: number, verb: string, precision: number): string {
  const wanted = precision === 0 ? 1 : precision;
  const rounded = wanted < 0 ? shortest(size) : roundTo(exact(size), wanted);
  const decimal = { digits: rounded.digits.replace(/0+$/, ''), point: rounded.point };
  const count = decimal.digits.length;
  let limit = wanted < 0 ? SHORTEST_EXPONENT_LIMIT : wanted;
  if (wanted > count && count >= decimal.point) limit = count;
  const exponent = decimal.point - 1;
  if (size !== 0 && (exponent < -4 || exponent >= limit)) {
    return exponential(decimal, count - 1, verb);
  }
  return plain(decimal, Math.max(count - decimal.point, 0));
}

function exponential({ digits, point }: DecimalDigits, places: number, verb: string): string {
  const shown = digits.padEnd(Math.max(places, 0) + 1, '0');
  const exponent = digits === '' ? 0 : point - 1;
  const text = String(Math.abs(exponent)).padStart(2, '0');
  const fraction = shown.length > 1 ? `.${shown.slice(1)}` : '';
  return `${shown[0]}${fraction}${verb}${exponent < 0 ? '-' : '+'}${text}`;
}

function plain({ digits, point }: DecimalDigits, places: number): string {
  const whole = point > 0 ? digits.slice(0, point).padEnd(point, '0') : '0';
  if (places <= 0) return whole;
  const fraction = point > 0 ? digits.slice(point) : '0'.repeat(Math.min(-point, places)) + digits;
  return `${whole}.${fraction.slice(0, places).padEnd(places, '0')}`;
}

function binary(size: number): string {
  const { mantissa, exponent } = mantissaAndExponent(size);
  return `${mantissa}p${exponent < 0 ? '' : '+'}${exponent}`;
}

function hexadecimal(size: number, precision: number): string {
  let { mantissa, exponent } = mantissaAndExponent(size);
  if (mantissa === 0n) return `0x0${precision > 0 ? `.${'0'.repeat(precision)}` : ''}p+00`;
  // Normalize to one digit before the point and 13 after it: 1.xxxxxxxxxxxxx.
  while (mantissa < 1n << 52n) {
    mantissa <<= 1n;
    exponent--;
  }
  exponent += 52;
  if (precision >= 0 && precision < 13) {
    const dropped = BigInt(4 * (13 - precision));
    const half = 1n << (dropped - 1n);
    const rest = mantissa & ((1n << dropped) - 1n);
    mantissa >>= dropped;
    if (rest > half || (rest === half && mantissa % 2n === 1n)) mantissa += 1n;
    mantissa <<= dropped;
    if (mantissa >= 1n << 53n) {
      mantissa >>= 1n;
      exponent++;
    }
  }
  const digits = (mantissa & ((1n << 52n) - 1n)).toString(16).padStart(13, '0');
  const fraction =
    precision < 0 ? digits.replace(/0+$/, '') : digits.slice(0, precision).padEnd(precision, '0');
  const sign = exponent < 0 ? '-' : '+';
  return `0x1${fraction === '' ? '' : `.${fraction}`}p${sign}${String(Math.abs(exponent)).padStart(2, '0')}`;
}
