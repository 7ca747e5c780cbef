/** Key by which connections of one client are counted. */
import { isIPv6 } from 'node:net';

/** Groups of an IPv6 network prefix of 64 bits, which usually belongs to one client. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;
const MAPPED = /^::ffff:(?=\d+\.)/i;

/**
 * Returns an IPv4 address unchanged, also if it is mapped into IPv6, and the network prefix of an IPv6
 * address.
 */
export function addressKey(address: string | undefined): string {
  const plain = (address ?? '').replace(MAPPED, '');
  if (!isIPv6(plain)) return plain;
  const [before, after = ''] = plain.toLowerCase().split('%', 1)[0].split('::');
  const first = before === '' ? [] : before.split(':');
  const last = after === '' ? [] : after.split(':');
  const zeros = plain.includes('::')
    ? Array.from({ length: GROUPS - first.length - last.length }, () => '0')
    : [];
  return [...first, ...zeros, ...last].slice(0, NETWORK_GROUPS).map(withoutZeros).join(':');
}

function withoutZeros(group: string): string {
  return group.replace(/^0+(?=.)/, '');
}
