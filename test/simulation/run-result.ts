/** Options and results of a simulated run. */
import type { SimulatedActor } from './actor.ts';
import type { Bug } from './planted/bug.ts';

export interface RunOptions {
  readonly seed: number;
  readonly bug?: Bug;
  readonly actors?: readonly SimulatedActor[];
  readonly keepTrace?: boolean;
  /** Whether the run has delete requests and retention. */
  readonly removes?: boolean;
  /** Processes merge for the one that holds a day (merge-crew.ts). */
  readonly crews?: boolean;
}

export interface RunResult {
  /** Calls of ports that reached a store or failed on the way. */
  readonly calls: number;
  /** Hash of the trace. */
  readonly hash: string;
  /** The trace, if requested. */
  readonly lines: readonly string[];
  readonly entries: number;
  readonly acknowledged: number;
  readonly kills: number;
  readonly swaps: number;
  /** Merges that one process did for another. */
  readonly helped: number;
  /** Merges for another process that wrote several parts of the streams. */
  readonly divided: number;
  /** Indexes that came into force. */
  readonly syncs: number;
  /** Rows that deletion and retention took out. */
  readonly removed: number;
  /** Delete requests that were brought to their end. */
  readonly processed: number;
  /** Virtual ms from start to end. */
  readonly virtualMs: number;
}

/** A run that violated an invariant. Its message explains how to repeat it. */
export class FailedRunError extends Error {
  readonly seed: number;
  readonly trace: readonly string[];

  constructor({ seed, bug, removes, crews }: RunOptions, cause: unknown, trace: readonly string[]) {
    const what = cause instanceof Error ? cause.message : String(cause);
    const again = `npm run simulate -- --seed ${seed} --trace${removes ? ' --removal' : ''}${crews ? ' --crews' : ''}${bug === undefined ? '' : ` --bug "${bug.name}"`}`;
    super(`seed ${seed}: ${what}\nagain: ${again}`, { cause });
    this.name = 'FailedRunError';
    this.seed = seed;
    this.trace = trace;
  }
}
