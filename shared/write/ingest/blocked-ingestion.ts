/**
 * Streams that a tenant may not push for a time (docs/dev/wire-format.md#policies-and-blocks). A block of the tenant goes before
 * one of a policy; the policy `*` is for streams that have none, not for those whose own policy is not blocked.
 */
import { ClientError } from '../../base/model/errors.ts';
import { GLOBAL_POLICY, type Limits } from '../../base/model/limits.ts';
import { NO_POLICY } from './policies.ts';

export type BlockReason = 'blocked_ingestion' | 'blocked_ingestion_policy';

export interface Block {
  readonly reason: BlockReason;
  /** Of the stream; shown where the block is one of policies. */
  readonly policy: string;
  /** RFC 3339. */
  readonly until: string;
}

/** A block with this status is not told to the client. */
const SILENT_STATUS = 200;

/** Why a stream of a policy may not be pushed now, or undefined. */
export function blockOf(policy: string, limits: Limits, nowNs: bigint): Block | undefined {
  const { blockIngestionUntil: ofTenant, blockIngestionPolicyUntil: byPolicy } = limits;
  if (ofTenant !== undefined && nowNs < ofTenant.ns) {
    return { reason: 'blocked_ingestion', policy, until: ofTenant.text };
  }
  if (byPolicy.size === 0) return undefined;
  const until = byPolicy.get(policy) ?? (policy === NO_POLICY ? byPolicy.get(GLOBAL_POLICY) : undefined);
  if (until === undefined || nowNs >= until.ns) return undefined;
  return { reason: 'blocked_ingestion_policy', policy, until: until.text };
}

/** What to answer; undefined where the entries are to be dropped without a word. */
export function blockError(block: Block, limits: Limits, tenant: string): ClientError | undefined {
  const { blockIngestionStatusCode: status } = limits;
  if (status === SILENT_STATUS) return undefined;
  const ofPolicy = block.reason === 'blocked_ingestion_policy' ? ` (policy: '${block.policy}')` : '';
  return new ClientError(
    status,
    `ingestion blocked for user '${tenant}'${ofPolicy} until '${block.until}' with status code '${status}'`,
  );
}
