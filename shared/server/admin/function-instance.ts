/**
 * A function instance in the fleet: reports its presence and counters, and applies settings of operators.
 *
 *     call --> work --> response is ready --> heartbeat, if the last is one minute old --> response is sent
 *                                               | one write: heartbeat and counters
 *                                               | one read: log level, shutdown
 *
 * Everything happens within a call, because nothing runs between calls or after the last one.
 *
 * Pitfall: an instance that was idle for 15 minutes has been folded (metric-records.ts). The total contains
 * what it reported before, and its new record starts with later counts.
 */

import { messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { CONFLICT, repeatConflicts } from '../../base/ports/repeat-conflicts.ts';
import type { Member } from '../../storage/catalog/member.ts';
import type { MetricRecords } from '../../storage/catalog/metric-records.ts';
import type { States } from '../../storage/catalog/states.ts';
import { encodeExposition, figuresToReport } from './fleet-figures.ts';
import { type Exposition, sinceExposition } from './metrics/exposition.ts';
import { readSharedSettings, type SharedSettings } from './shared-settings.ts';

/** Limits each active instance to one write and one read per minute. */
const BEAT_EVERY_MS = 60_000;
/** Attempts if the record changes before the write: folded, hidden, or written by an earlier attempt. */
const MAX_TRIES = 3;

interface FunctionInstanceParts {
  readonly records: MetricRecords;
  readonly states: States;
  readonly clock: Clock;
  readonly self: Pick<Member, 'id' | 'address' | 'zone' | 'components'>;
  /** All metrics of this instance as text. */
  readonly text: () => Promise<string>;
  /** Called with the settings of operators at each heartbeat. */
  readonly onSettings: (settings: SharedSettings) => void;
  /** Called at each heartbeat. */
  readonly onBeat?: () => void;
  readonly log: { warn(fields: object, message: string): void };
}

export class FunctionInstance {
  readonly #parts: FunctionInstanceParts;
  readonly #registeredMs: number;
  #beatMs = Number.NEGATIVE_INFINITY;
  #settings: SharedSettings = {};
  /** Version of the record; -1 without one. */
  #version = -1;
  /** Figures of the registry at the last write; `undefined` before the first. */
  #reported: Exposition | undefined;
  /** Figures of this instance in the total. Its record contains later counts. */
  #folded: Exposition = new Map();
  #beating: Promise<void> | undefined;

  constructor(parts: FunctionInstanceParts) {
    this.#parts = parts;
    this.#registeredMs = parts.clock.nowMs();
  }

  /**
   * Called after the work of each invocation. Never rejects: a failure is logged, and the next heartbeat
   * retries.
   */
  beatIfDue(): Promise<void> {
    const nowMs = this.#parts.clock.nowMs();
    if (this.#beating === undefined && nowMs - this.#beatMs >= BEAT_EVERY_MS) {
      this.#beatMs = nowMs;
      this.#beating = this.#beat()
        .catch(error => {
          this.#parts.log.warn({ err: error }, `instance heartbeat failed: ${messageOf(error)}`);
        })
        .finally(() => {
          this.#beating = undefined;
        });
    }
    return this.#beating ?? Promise.resolve();
  }

  async #beat(): Promise<void> {
    this.#parts.onBeat?.();
    await this.#readSettings();
    await this.#report();
  }

  async #readSettings(): Promise<void> {
    const { states, onSettings } = this.#parts;
    this.#settings = await readSharedSettings(states);
    onSettings(this.#settings);
  }

  async #report(): Promise<void> {
    const { records, text, self, clock } = this.#parts;
    const figures = figuresToReport(await text());
    const { leavingMs = Number.NEGATIVE_INFINITY } = this.#settings;
    const member: Member = {
      ...self,
      state: this.#registeredMs <= leavingMs ? 'LEAVING' : 'ACTIVE',
      registeredMs: this.#registeredMs,
      heartbeatMs: clock.nowMs(),
      isFunction: true,
    };
    const tooMany = () =>
      new Error('too many concurrent changes to the instance record; the next heartbeat retries');
    await repeatConflicts({ maxTries: MAX_TRIES, tooMany }, async () => {
      const encoded = encodeExposition(sinceExposition(figures, this.#folded));
      if (!(await records.write({ member, figures: encoded }, this.#version))) {
        await this.#readAgain();
        return CONFLICT;
      }
      this.#version++;
      this.#reported = figures;
      return undefined;
    });
  }

  async #readAgain(): Promise<void> {
    const { records, self } = this.#parts;
    const found = await records.read(self.id);
    if (found === undefined && this.#reported !== undefined) this.#folded = this.#reported;
    this.#version = found?.version ?? -1;
  }
}
