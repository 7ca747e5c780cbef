/** The key under which connections of one client are counted. */
import { isIPv6 } from 'node:net';

/** A client of IPv6 usually has a whole network of 64 bits to itself. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;
const MAPPED = /^::ffff:(?=\d+\.)/i;

/** An address of IPv4 as it is, also where it comes mapped into IPv6; of IPv6 its network. */
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
