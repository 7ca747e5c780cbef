/**
 * Translates conditions of the port to DynamoDB expressions. An expired item counts as absent, although
 * DynamoDB may keep it for days.
 */
import type { Condition } from '../base/ports/table.ts';
import type { Attributes } from './dynamodb-item.ts';

const EXISTS = 'attribute_exists(#pk)';
const IS_MISSING = 'attribute_not_exists(#pk)';
/** False for an item without expiry: a comparison with a missing attribute never holds. */
const HAS_EXPIRED = '#expiresAt <= :now';
const NEVER_EXPIRES = 'attribute_not_exists(#expiresAt)';
const EXPIRES_LATER = '#expiresAt > :now';
const HAS_VERSION = '#version = :version';

// Placeholders instead of names, because the list of words that DynamoDB reserves grows.
const PK = { '#pk': 'pk' };
const EXPIRES_AT = { '#expiresAt': 'expiresAt' };
const VERSION = { '#version': 'version' };

interface ConditionExpression {
  readonly ConditionExpression: string;
  readonly ExpressionAttributeNames: Record<string, string>;
  readonly ExpressionAttributeValues: Attributes;
}

/** Returns an empty object if there is no condition. `nowMs` is Unix time. */
export function conditionExpression(
  condition: Condition | undefined,
  nowMs: number,
): ConditionExpression | undefined {
  if (condition === undefined) return undefined;
  const now = { ':now': { N: String(Math.floor(nowMs / 1000)) } };
  switch (condition.kind) {
    case 'absent':
      return {
        ConditionExpression: `${IS_MISSING} OR ${HAS_EXPIRED}`,
        ExpressionAttributeNames: { ...PK, ...EXPIRES_AT },
        ExpressionAttributeValues: now,
      };
    case 'present':
      return {
        ConditionExpression: `${EXISTS} AND (${NEVER_EXPIRES} OR ${EXPIRES_LATER})`,
        ExpressionAttributeNames: { ...PK, ...EXPIRES_AT },
        ExpressionAttributeValues: now,
      };
    case 'version':
      return {
        ConditionExpression: `${HAS_VERSION} AND (${NEVER_EXPIRES} OR ${EXPIRES_LATER})`,
        ExpressionAttributeNames: { ...VERSION, ...EXPIRES_AT },
        ExpressionAttributeValues: { ...now, ':version': { N: String(condition.version) } },
      };
  }
}
