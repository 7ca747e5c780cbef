/**
 * Translates key ranges of the port to DynamoDB query conditions. Both compare strings by their UTF-8 bytes.
 * This module handles what DynamoDB lacks: half-open ranges (BETWEEN includes both ends), empty bounds, empty
 * ranges, and starting keys outside the range.
 */
import { compareUtf8 } from '../base/model/bytes.ts';
import type { QueryOptions } from '../base/ports/table.ts';
import { MAX_SORT_KEY_BYTES } from '../base/ports/table-rules.ts';
import type { Attributes } from './dynamodb-item.ts';

export interface KeyRange {
  readonly KeyConditionExpression: string;
  readonly ExpressionAttributeValues: Attributes;
  /** Sort key after which the query starts, in its direction. */
  readonly startAfter: string | undefined;
  /** Sort key that the condition includes but the range does not. Undefined if there is none. */
  readonly end: string | undefined;
}

/** Returns undefined if the range is empty. Throws RangeError if a bound is longer than a sort key. */
export function keyRange(pk: string, { from = '', to, reverse, after }: QueryOptions): KeyRange | undefined {
  for (const bound of [from, to, after]) {
    if (bound !== undefined && Buffer.byteLength(bound) > MAX_SORT_KEY_BYTES)
      throw new RangeError(`bound of sort keys exceeds ${MAX_SORT_KEY_BYTES} bytes`);
  }
  if (to !== undefined && compareUtf8(from, to) >= 0) return undefined;
  let startAfter: string | undefined;
  if (after !== undefined) {
    const isBelow = compareUtf8(after, from) < 0 || after === '';
    const isAbove = to !== undefined && compareUtf8(after, to) >= 0;
    // Past the far end of the range no key is left. Before its near end no key has been passed.
    if (reverse ? isBelow || after === from : isAbove) return undefined;
    if (!isBelow && !isAbove) startAfter = after;
  }
  const bounds: Attributes = {};
  if (from !== '') bounds[':from'] = { S: from };
  if (to !== undefined) bounds[':to'] = { S: to };
  return {
    KeyConditionExpression: `pk = :pk${sortKeyCondition(from, to)}`,
    ExpressionAttributeValues: { ':pk': { S: pk }, ...bounds },
    startAfter,
    end: to,
  };
}

function sortKeyCondition(from: string, to: string | undefined): string {
  if (from === '') return to === undefined ? '' : ' AND sk < :to';
  return to === undefined ? ' AND sk >= :from' : ' AND sk BETWEEN :from AND :to';
}
