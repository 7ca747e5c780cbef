/**
 * Values of labels as numbers, durations and sizes, with Go's words where they are none (docs/dev/logql-semantics.md#byte-sizes,
 * #label-filters).
 */
import { quote } from '../../../shared/base/model/quote.ts';
import { NS_PER_SECOND } from '../../../shared/base/model/time-units.ts';
import { type Bytes, toBytes, toText } from './bytes.ts';

type Converted = { readonly value: number; readonly error?: undefined } | { readonly error: Bytes };

export function numberOf(text: Bytes): Converted {
  const value = goFloat(text);
  if (value === undefined)
    return { error: toBytes(`strconv.ParseFloat: parsing ${quote(toText(text))}: invalid syntax`) };
  const isTooLarge = Math.abs(value) === Infinity && !/inf/i.test(text);
  return isTooLarge
    ? { error: toBytes(`strconv.ParseFloat: parsing ${quote(toText(text))}: value out of range`) }
    : { value };
}

const SPECIAL: Record<string, number> = { inf: Infinity, infinity: Infinity, nan: NaN };

function goFloat(text: Bytes): number | undefined {
  const [, sign, rest] = /^([+-]?)([\s\S]*)$/.exec(text)!;
  const factor = sign === '-' ? -1 : 1;
  const special = SPECIAL[rest.toLowerCase()];
  // NaN has no sign.
  if (special !== undefined) return Number.isNaN(special) && sign !== '' ? undefined : factor * special;
  const digits = rest.replace(/(?<=[0-9a-fA-FxX])_(?=[0-9a-fA-F])/g, '');
  if (/^(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(digits)) {
    // Underscores are for literals with a prefix.
    return rest.includes('_') ? underscored(rest, digits, factor) : factor * Number(digits);
  }
  const hex = /^0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)$/.exec(digits);
  if (hex === null || hex[1] + hex[2] === '') return undefined;
  return factor * Number.parseInt(hex[1] + hex[2], 16) * 2 ** (Number(hex[3]) - 4 * hex[2].length);
}

function underscored(rest: Bytes, digits: Bytes, factor: number): number | undefined {
  return /^\d+(?:_\d+)*(?:\.\d+(?:_\d+)*)?$/.test(rest) ? factor * Number(digits) : undefined;
}

const NS: Record<string, bigint> = {
  ns: 1n,
  us: 1_000n,
  Âµs: 1_000n,
  'Î¼s': 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

/** Nanoseconds. */
export function durationOf(
  text: Bytes,
): { readonly ns: bigint; readonly error?: undefined } | { readonly error: Bytes } {
  const shown = goQuoted(text);
  const invalid = { error: `time: invalid duration ${shown}` };
  const negative = text[0] === '-';
  let rest = /^[+-]/.test(text) ? text.slice(1) : text;
  if (rest === '0') return { ns: 0n };
  if (rest === '') return invalid;
  let ns = 0n;
  while (rest !== '') {
    const number = /^(\d*)(?:\.(\d*))?/.exec(rest)!;
    const [whole, fraction = ''] = [number[1], number[2]];
    if (number[0] === '' || number[0] === '.') return invalid;
    rest = rest.slice(number[0].length);
    const unit = /^[^.\d]*/.exec(rest)![0];
    if (unit === '') return { error: `time: missing unit in duration ${shown}` };
    const factor = NS[unit];
    if (factor === undefined) return { error: `time: unknown unit ${goQuoted(unit)} in duration ${shown}` };
    rest = rest.slice(unit.length);
    ns += BigInt(whole === '' ? 0 : whole) * factor;
    if (fraction !== '') ns += (BigInt(fraction) * factor) / 10n ** BigInt(fraction.length);
    if (ns > (negative ? 1n << 63n : (1n << 63n) - 1n)) return invalid;
  }
  return { ns: negative ? -ns : ns };
}

/** Quotes as Go's package time does. */
function goQuoted(text: Bytes): Bytes {
  const shown = [...text].map(char => {
    if (char === '"' || char === '\\') return `\\${char}`;
    return char >= ' ' && char < '\x80' ? char : `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`;
  });
  return `"${shown.join('')}"`;
}

const SIZES = ['', 'k', 'm', 'g', 't', 'p', 'e'];

export function sizeOf(text: Bytes): Converted {
  const [, digits, unitText] = /^([\d.,]*)([\s\S]*)$/.exec(text)!;
  const number = digits.replaceAll(',', '');
  const value = goFloat(number);
  if (value === undefined) return { error: `strconv.ParseFloat: parsing ${quote(number)}: invalid syntax` };
  const unit = unitText.trim().toLowerCase();
  const [, letter, binary] = /^([kmgtpe]?)(i?)b?$/.exec(unit) ?? [];
  if (letter === undefined || (letter === '' && binary !== ''))
    return { error: `unhandled size name: ${unit}` };
  const size = value * (binary === '' ? 1000 : 1024) ** SIZES.indexOf(letter);
  return size >= 2 ** 64 ? { error: `too large: ${text}` } : { value: Math.trunc(size) };
}

/** Seconds: whole ones and the rest are added. */
export function secondsOf(text: Bytes): Converted {
  const duration = durationOf(text);
  if (duration.error !== undefined) return duration;
  return { value: Number(duration.ns / NS_PER_SECOND) + Number(duration.ns % NS_PER_SECOND) / 1e9 };
}
