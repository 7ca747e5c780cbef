/** Dependencies of serving tails, and properties of the process that holds the connections. */
import type { Connections } from '../../base/ports/connections.ts';
import type { FrameLimits } from './frames.ts';
import type { LookbackParts } from './lookback.ts';

/** The part of a logger that is used. pino fits. */
export interface TailLogger {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface TenantTailParts extends LookbackParts {
  readonly connections: Connections;
  readonly log: TailLogger;
  readonly owner: string;
  readonly frames: FrameLimits;
  /** Time after its subscription until other processes know a tail. 0 if there are none. */
  readonly joinMs: number;
  /**
   * Whether this process makes all commits, and notifies its tails of each. Only commits that do not fit in
   * memory are logged.
   */
  readonly hearsAll?: boolean | undefined;
  /** Maximum commits in memory that wait to be served. Default: MAX_NOTICES. */
  readonly maxNotices?: number | undefined;
  /** Maximum lifetime of a tail. 0: no limit. */
  readonly maxDurationMs: number;
  /**
   * Interval after which an empty frame is posted. Undefined if the platform keeps connections open itself.
   */
  readonly keepAliveMs?: number | undefined;
  /** Whether to store what was served, because the next run may be in another process. */
  readonly savesCursor: boolean;
}
