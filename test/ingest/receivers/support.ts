/** Decodes bodies with a receiver, like a push, without storing. */

import { ClientError } from '../../../shared/base/model/errors.ts';
import { DEFAULT_LIMITS, type Limits } from '../../../shared/base/model/limits.ts';
import { atOnce } from '../../../shared/base/model/steps.ts';
import type { BodyHeaders, BodyLimits } from '../../../shared/write/ingest/body.ts';
import type { PushColumns } from '../../../shared/write/ingest/push-columns.ts';
import type { Receiver } from '../../../shared/write/ingest/receiver.ts';
import { entriesOf, type PlainEntry } from '../entries.ts';

export const NOW_NS = 1_795_262_400_000_000_000n;
export const BODY_LIMITS: BodyLimits = { maxBodyBytes: 1_000_000, maxDecompressedBytes: 2_000_000 };
const HELD = { take: () => undefined, release: () => {} };

export async function columnsOf(
  receiver: Receiver,
  body: Uint8Array | string,
  headers: BodyHeaders = {},
  limits: Limits = DEFAULT_LIMITS,
): Promise<PushColumns> {
  const bytes = await receiver.unpack(Buffer.from(body as Uint8Array), headers, BODY_LIMITS, HELD);
  return atOnce(receiver.decode(bytes, { limits, nowNs: NOW_NS }));
}

export async function decoded(...given: Parameters<typeof columnsOf>): Promise<PlainEntry[]> {
  return entriesOf(await columnsOf(...given));
}

/** Status and message of the ClientError; rethrows other errors. */
export async function refusalOf(...given: Parameters<typeof columnsOf>): Promise<string> {
  try {
    await columnsOf(...given);
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
    return `${error.status} ${error.message}`;
  }
  throw new Error('not refused');
}

/** Decodes, or refuses with a client error; decoded columns must be readable. */
export async function holds(...given: Parameters<typeof columnsOf>): Promise<void> {
  try {
    entriesOf(await columnsOf(...given));
  } catch (error) {
    if (!(error instanceof ClientError)) throw error;
  }
}
