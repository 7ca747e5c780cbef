/**
 * Copies a chunk object for another tenant: the same pages and sections, and a footer that names the new
 * tenant. Only the footer contains the tenant, so no other part is decoded or checked.
 */
import { decodeFooter, encodeFooter, footerLength } from './footer-codec.ts';
import { type Footer, TRAILER_BYTES } from './format.ts';

interface RenamedChunk {
  readonly object: Buffer;
  readonly footer: Footer;
  /** Size of footer and trailer at its end. */
  readonly footerBytes: number;
}

/**
 * Renames the tenant. Throws CorruptionError if the object does not end as a chunk, or its footer is corrupt.
 */
export function renameTenant(object: Buffer, tenant: string, what: string): RenamedChunk {
  const trailer = object.subarray(Math.max(0, object.length - TRAILER_BYTES));
  const start = object.length - TRAILER_BYTES - footerLength(trailer, object.length, what);
  const footer = {
    ...decodeFooter(object.subarray(start, object.length - TRAILER_BYTES), what),
    tenant,
  };
  const tail = encodeFooter(footer);
  return {
    object: Buffer.concat([object.subarray(0, start), tail]),
    footer,
    footerBytes: tail.length,
  };
}
