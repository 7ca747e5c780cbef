/** Parts of the bodies of hostile pushes. */
import { randomBytes } from 'node:crypto';
import type { Repeated } from '../packed.ts';

export const MIB = 1024 * 1024;
export const GB = 1_000_000_000;

/** Bytes of content, close to the default limit of a decompressed push. */
export const MOST_BYTES = 126 * MIB;

/** Name, expected status, and body of a push. */
export type HostileBody = readonly [name: string, status: number, body: () => Buffer];

export interface HostileReceiver {
  readonly receiver: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly bodies: readonly HostileBody[];
}

export function once(content: Buffer | string): Repeated {
  return { bytes: Buffer.from(content as string), times: 1 };
}

/** Repeats the content as often as it fits into `bytes`. */
export function repeated(content: Buffer | string, bytes: number): Repeated {
  const piece = Buffer.from(content as string);
  return { bytes: piece, times: Math.floor(bytes / piece.length) };
}

export function spaces(bytes: number): Repeated {
  return repeated(' '.repeat(1024), bytes);
}

/** Text that compresses to half, so that a body may decompress to `MOST_BYTES` without a suspicious ratio. */
export const NOISE = randomBytes(600 * 1024).toString('hex');

export function nowNs(): string {
  return `${Date.now()}000000`;
}
