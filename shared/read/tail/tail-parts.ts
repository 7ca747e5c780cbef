/** What serving tails needs from outside, and how the place that holds the connections is. */
import type { Connections } from '../../base/ports/connections.ts';
import type { FrameLimits } from './frames.ts';
import type { LookbackParts } from './lookback.ts';

/** The part of a logger that this needs; pino fits. */
export interface TailLogger {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

export interface TenantTailParts extends LookbackParts {
  readonly connections: Connections;
  readonly log: TailLogger;
  readonly owner: string;
  readonly frames: FrameLimits;
  /** How long after its subscription a tail waits until other processes know of it; 0 where there are none. */
  readonly joinMs: number;
  /** All commits are of this process, which tells its tails of each: nothing is logged but what they have no room for. */
  readonly hearsAll?: boolean | undefined;
  /** Commits that wait to be served, in memory. Default: MAX_NOTICES. */
  readonly maxNotices?: number | undefined;
  /** Longest life of a tail; 0 is no limit. */
  readonly maxDurationMs: number;
  /** A frame is posted where none was for so long; undefined where the place keeps connections by itself. */
  readonly keepAliveMs?: number | undefined;
  /** The next run may be in another process: what was served is written down. */
  readonly savesCursor: boolean;
}
