/**
 * Maintenance in a simulated store, as a schedule would invoke it. Every step may run in several processes at
 * the same time, twice in one, and be killed anywhere. It must change no result.
 *
 * To add an actor, create it and put it into ACTORS of actors/index.ts.
 */
import type { Dice } from './dice.ts';
import type { Oracle } from './oracle.ts';
import type { SimulatedProcess } from './process.ts';

export interface ActorContext {
  readonly process: SimulatedProcess;
  /** Another one that lives, or the same. */
  readonly anyProcess: () => SimulatedProcess;
  /** True state of the store, for an actor that only checks. */
  readonly oracle: Oracle;
  readonly dice: Dice;
  readonly tenants: readonly string[];
  /** UTC days of the entries of the run. */
  readonly days: readonly number[];
  /** Time from a swap to the deletion of what it replaced, ms; longer than any request of the run. */
  readonly graceMs: number;
}

export interface SimulatedActor {
  readonly name: string;
  /** Relative frequency of invocations. */
  readonly weight: number;
  step(context: ActorContext): Promise<void>;
  /**
   * Errors that a step may end with in addition to those of the outside, by name: another one was faster, for
   * example.
   */
  readonly tolerates: readonly string[];
}
