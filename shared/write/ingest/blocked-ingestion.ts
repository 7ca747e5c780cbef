/**
 * Streams that a tenant may not push for a time (docs/dev/wire-format.md#policies-and-blocks). A block of the tenant has precedence over
 * one of a policy. The policy `*` is for streams without a policy, not for those whose policy is not blocked.
 */
import { ClientError } from '../../base/model/errors.ts';
import { GLOBAL_POLICY, type Limits } from '../../base/model/limits.ts';
import { NO_POLICY } from './policies.ts';

export type BlockReason = 'blocked_ingestion' | 'blocked_ingestion_policy';

export interface IngestionBlock {
  readonly reason: BlockReason;
  /** Policy of the stream, shown if the block is for a policy. */
  readonly policy: string;
  /** RFC 3339. */
  readonly until: string;
}

/** Status for which the client receives no error. */
const SILENT_STATUS = 200;

/** Returns the block of a policy's streams, or undefined if they may be pushed now. */
export function blockOf(policy: string, limits: Limits, nowNs: bigint): IngestionBlock | undefined {
  const { blockIngestionUntil: blockOfTenant, blockIngestionPolicyUntil: byPolicy } = limits;
  if (blockOfTenant !== undefined && nowNs < blockOfTenant.ns) {
    return { reason: 'blocked_ingestion', policy, until: blockOfTenant.text };
  }
  if (byPolicy.size === 0) return undefined;
  const until = byPolicy.get(policy) ?? (policy === NO_POLICY ? byPolicy.get(GLOBAL_POLICY) : undefined);
  if (until === undefined || nowNs >= until.ns) return undefined;
  return { reason: 'blocked_ingestion_policy', policy, until: until.text };
}

/** Returns the error, or undefined if the entries are dropped without one. */
export function blockError(block: IngestionBlock, limits: Limits, tenant: string): ClientError | undefined {
  const { blockIngestionStatusCode: status } = limits;
  if (status === SILENT_STATUS) return undefined;
  const ofPolicy = block.reason === 'blocked_ingestion_policy' ? ` (policy: '${block.policy}')` : '';
  return new ClientError(
    status,
    `ingestion blocked for user '${tenant}'${ofPolicy} until '${block.until}' with status code '${status}'`,
  );
}
