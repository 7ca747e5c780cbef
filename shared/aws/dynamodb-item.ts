/**
 * Converts items of the port to and from DynamoDB items:
 *
 *     pk          S   partition key
 *     sk          S   sort key
 *     version     N
 *     body        B
 *     expiresAt   N   Unix seconds; absent if the item does not expire. Also the time-to-live attribute of the table.
 */
import type { Item, ItemKey } from '../base/ports/table.ts';
import { UnexpectedAnswerError } from './errors.ts';

/** Attributes as DynamoDB's protocol writes them: numbers in decimal, bytes in base64. */
export type Attributes = Record<string, { readonly S?: string; readonly N?: string; readonly B?: string }>;

export const PARTITION_KEY = 'pk';
export const SORT_KEY = 'sk';
export const TIME_TO_LIVE = 'expiresAt';

export function keyAttributes({ pk, sk }: ItemKey): Attributes {
  return { pk: { S: pk }, sk: { S: sk } };
}

export function itemAttributes({ pk, sk, version, body, expiresAt }: Item): Attributes {
  const attributes: Attributes = {
    pk: { S: pk },
    sk: { S: sk },
    version: { N: String(version) },
    body: { B: Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('base64') },
  };
  if (expiresAt !== undefined) attributes.expiresAt = { N: String(expiresAt) };
  return attributes;
}

/** Throws UnexpectedAnswerError if Logboom did not write the item. */
export function itemOf({ pk, sk, version, body, expiresAt }: Attributes): Item {
  const numbers = [version?.N, expiresAt?.N ?? '0'].map(Number);
  if (
    pk?.S === undefined ||
    sk?.S === undefined ||
    body?.B === undefined ||
    !numbers.every(Number.isSafeInteger)
  )
    throw new UnexpectedAnswerError(`item ${pk?.S} / ${sk?.S} is not a Logboom item; check the table name`);
  const item = { pk: pk.S, sk: sk.S, version: numbers[0], body: Buffer.from(body.B, 'base64') };
  return expiresAt === undefined ? item : { ...item, expiresAt: numbers[1] };
}
