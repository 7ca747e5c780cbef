/**
 * `ip("...")`: an address, a CIDR prefix or a range `A-B`, found anywhere in a text (docs/dev/logql-semantics.md#addresses). A
 * run of address characters is tested as a whole. If it is not an address, the search continues after it.
 */
import ipaddr from 'ipaddr.js';
import { quote } from '../../base/model/quote.ts';
import type { LineFilterOp, Stage } from '../../language/logql/ast.ts';

/** Matching addresses: all between two bounds of one family, as big-endian bytes. */
export interface IpMatcher {
  readonly low: readonly number[];
  readonly high: readonly number[];
}

/**
 * Maximum length of an address: eight groups with an embedded IPv4 address. Longer runs are not addresses.
 */
const MAX_ADDRESS_LENGTH = 45;

/** Operators of line filters that accept `ip()`. */
export const IP_OPERATORS: ReadonlySet<LineFilterOp> = new Set(['|=', '!=']);

/**
 * Returns whether the stage parses but is invalid, because one of its `ip()` is not an address or is not
 * allowed.
 */
export function lacksAddress(stage: Stage): boolean {
  if (stage.kind === 'labelFilter')
    return stage.filter.kind === 'ip' && readIp(stage.filter.pattern) === undefined;
  if (stage.kind !== 'lineFilter') return false;
  const { op, operand, alternatives } = stage;
  return [operand, ...alternatives].some(
    ({ kind, value }) => kind === 'ip' && (!IP_OPERATORS.has(op) || readIp(value) === undefined),
  );
}

/** Throws an Error with the reference's text if the pattern is invalid. */
export function compileIp(pattern: string): IpMatcher {
  const matcher = readIp(pattern);
  if (matcher === undefined) throw new Error(`ip: invalid pattern: ${quote(pattern)}`);
  return matcher;
}

/** Returns undefined if the pattern is invalid. */
export function readIp(pattern: string): IpMatcher | undefined {
  const single = parseAddress(pattern);
  if (single !== undefined) return { low: single, high: single };
  const slash = pattern.indexOf('/');
  if (slash >= 0) {
    const address = parseAddress(pattern.slice(0, slash));
    const bitsText = pattern.slice(slash + 1);
    if (address === undefined || !/^(0|[1-9]\d{0,2})$/.test(bitsText)) return undefined;
    const bits = Number(bitsText);
    if (bits > address.length * 8) return undefined;
    return prefixBounds(address, bits);
  }
  const hyphen = pattern.indexOf('-');
  if (hyphen < 0) return undefined;
  const low = parseAddress(pattern.slice(0, hyphen));
  const high = parseAddress(pattern.slice(hyphen + 1));
  if (low === undefined || high === undefined) return undefined;
  if (low.length !== high.length || compare(low, high) > 0) return undefined;
  return { low, high };
}

function prefixBounds(address: readonly number[], bits: number): IpMatcher {
  const low = [...address];
  const high = [...address];
  for (let i = 0; i < address.length; i++) {
    const kept = Math.min(Math.max(bits - i * 8, 0), 8);
    const mask = (0xff << (8 - kept)) & 0xff;
    low[i] = address[i] & mask;
    high[i] = address[i] | (0xff & ~mask);
  }
  return { low, high };
}

/** Returns the bytes of an address, 4 or 16. */
function parseAddress(text: string): number[] | undefined {
  if (text.includes(':')) {
    // Zones and brackets are not allowed, and ipaddr.js is too lenient about the embedded form.
    if (!/^[0-9a-fA-F:.]+$/.test(text) || !ipaddr.IPv6.isValid(text)) return undefined;
    const embedded = /[^:]*\..*$/.exec(text);
    if (embedded !== null && !isDottedQuad(embedded[0])) return undefined;
    return ipaddr.IPv6.parse(text).toByteArray();
  }
  return isDottedQuad(text) ? ipaddr.IPv4.parse(text).toByteArray() : undefined;
}

function isDottedQuad(text: string): boolean {
  return /^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(?!$)|$)){4}$/.test(text);
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i] - b[i];
  return 0;
}

function accepts(matcher: IpMatcher, text: string): boolean {
  const address = parseAddress(text);
  if (address === undefined || address.length !== matcher.low.length) return false;
  return compare(address, matcher.low) >= 0 && compare(address, matcher.high) <= 0;
}

/** Returns whether some address in the byte range matches. */
export function containsIp(matcher: IpMatcher, source: Buffer, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    let stop = at;
    if (startsLikeV4(source, at, end)) {
      while (stop < end && (isDigit(source[stop]) || source[stop] === 0x2e)) stop++;
    } else if (startsLikeV6(source, at, end)) {
      while (stop < end && (isHex(source[stop]) || source[stop] === 0x3a || source[stop] === 0x2e)) stop++;
    } else {
      at++;
      continue;
    }
    if (stop - at <= MAX_ADDRESS_LENGTH && accepts(matcher, source.latin1Slice(at, stop))) return true;
    at = stop + 1;
  }
  return false;
}

function startsLikeV4(source: Buffer, at: number, end: number): boolean {
  if (end - at < 4 || !isDigit(source[at])) return false;
  return source[at + 1] === 0x2e || source[at + 2] === 0x2e || source[at + 3] === 0x2e;
}

function startsLikeV6(source: Buffer, at: number, end: number): boolean {
  if (source[at] === 0x3a) return at + 2 < end && source[at + 1] === 0x3a && isHex(source[at + 2]);
  const last = Math.min(at + 4, end - 1);
  for (let i = at; i <= last; i++) {
    if (source[i] === 0x3a) return i > at;
    if (!isHex(source[i])) return false;
  }
  return false;
}

function isDigit(byte: number): boolean {
  return byte >= 0x30 && byte <= 0x39;
}

function isHex(byte: number): boolean {
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}
