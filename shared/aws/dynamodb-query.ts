/**
 * Key ranges of the port as conditions of a DynamoDB query. DynamoDB compares strings by their UTF-8 bytes, as the port
 * does. It has no half-open range (BETWEEN includes both ends), takes no empty bound, refuses a range that is empty, and
 * takes a starting key only inside the range: so these cases are settled here.
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
  /** Left out although the condition takes it; undefined where there is none. */
  readonly end: string | undefined;
}

/** Undefined where nothing can be in the range. Throws RangeError where a bound is longer than a sort key. */
export function keyRange(pk: string, { from = '', to, reverse, after }: QueryOptions): KeyRange | undefined {
  for (const bound of [from, to, after]) {
    if (bound !== undefined && Buffer.byteLength(bound) > MAX_SORT_KEY_BYTES)
      throw new RangeError(`bound of sort keys has more than ${MAX_SORT_KEY_BYTES} bytes`);
  }
  if (to !== undefined && compareUtf8(from, to) >= 0) return undefined;
  let startAfter: string | undefined;
  if (after !== undefined) {
    const isBelow = compareUtf8(after, from) < 0 || after === '';
    const isAbove = to !== undefined && compareUtf8(after, to) >= 0;
    // Nothing is left behind the far end of the range; before its near end, nothing has been passed yet.
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
