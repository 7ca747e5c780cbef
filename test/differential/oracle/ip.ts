/** Addresses in lines and labels (docs/dev/logql-semantics.md#addresses), as numbers of 32 or 128 bits. */
import { isIPv4, isIPv6 } from 'node:net';
import type { Bytes } from './bytes.ts';

interface Address {
  readonly family: 4 | 6;
  readonly value: bigint;
}

interface AddressRange {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly last: bigint;
}

export function addressMatcher(pattern: string): AddressRange {
  const [text, length] = pattern.split('/');
  const [from, to = from] = text.split('-').map(addressOf);
  if (length === undefined) return { family: from!.family, first: from!.value, last: to!.value };
  const bits = BigInt((from!.family === 4 ? 32 : 128) - Number(length));
  const first = (from!.value >> bits) << bits;
  return { family: from!.family, first, last: first + (1n << bits) - 1n };
}

function addressOf(text: string): Address | undefined {
  if (isIPv4(text)) return { family: 4, value: numberOf(text.split('.'), 10, 8n) };
  if (!isIPv6(text) || text.includes('%')) return undefined;
  const dotted = /^(.*:)(\d+)\.(\d+)\.(\d+)\.(\d+)$/.exec(text);
  const plain =
    dotted === null ? text : `${dotted[1]}${hex(dotted[2], dotted[3])}:${hex(dotted[4], dotted[5])}`;
  const [head, tail] = plain.split('::').map(part => (part === '' ? [] : part.split(':')));
  const groups =
    tail === undefined ? head : [...head, ...new Array(8 - head.length - tail.length).fill('0'), ...tail];
  return { family: 6, value: numberOf(groups, 16, 16n) };
}

function hex(a: string, b: string): string {
  return (Number(a) * 256 + Number(b)).toString(16);
}

function numberOf(parts: readonly string[], base: number, bits: bigint): bigint {
  return parts.reduce((sum, part) => (sum << bits) + BigInt(Number.parseInt(part, base)), 0n);
}

export function containsAddress({ family, first, last }: AddressRange, text: Bytes): boolean {
  for (let at = 0; at < text.length; at++) {
    const hint4 = text.length - at >= 4 && /^\d(?:\.|.\.|..\.)/s.test(text.slice(at, at + 4));
    const hint6 = /^(?:::[0-9a-fA-F]|[0-9a-fA-F]{1,4}:)/.test(text.slice(at, at + 5));
    if (!hint4 && !hint6) continue;
    const run = (hint4 ? /^[0-9.]*/ : /^[0-9a-fA-F:.]*/).exec(text.slice(at))![0];
    const address = addressOf(run);
    if (address !== undefined && address.family === family && address.value >= first && address.value <= last)
      return true;
    at += run.length;
  }
  return false;
}
