/**
 * A function instance among the others: tells that it is there and what it has counted, and follows what operators set.
 *
 *     call --> work --> answer is made --> beat, where the last one is a minute old --> answer goes out
 *                                            | one write: heartbeat and counters
 *                                            | one read: log level, shutdown
 *
 * Between two calls nothing runs and after the last one nothing more is said, so everything happens within a call. What
 * a reader would get wrong: an instance that slept for a quarter of an hour was folded meanwhile (metric-records.ts); what it
 * had told until then is in the total, and its new record begins with what came after.
 */

import { messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Member } from '../../storage/catalog/member.ts';
import type { MetricRecords } from '../../storage/catalog/metric-records.ts';
import type { States } from '../../storage/catalog/states.ts';
import { encodeFigures, figuresToTell } from './fleet-figures.ts';
import { type Exposition, sinceExposition } from './metrics/exposition.ts';
import { readSharedSettings, type SharedSettings } from './shared-settings.ts';

/** One write and one read for each instance that is called, at most. */
export const BEAT_EVERY_MS = 60_000;
/** A record that changed under the write: folded, hidden, or written by an earlier try. Then once more. */
const MAX_TRIES = 3;

export interface FunctionInstanceParts {
  readonly records: MetricRecords;
  readonly states: States;
  readonly clock: Clock;
  readonly self: Pick<Member, 'id' | 'address' | 'zone' | 'components'>;
  /** All metrics of this instance as text. */
  readonly text: () => Promise<string>;
  /** Told of what operators set, with each beat. */
  readonly onSettings: (settings: SharedSettings) => void;
  /** Called with each beat. */
  readonly onBeat?: () => void;
  readonly log: { warn(fields: object, message: string): void };
}

export class FunctionInstance {
  readonly #parts: FunctionInstanceParts;
  readonly #registeredMs: number;
  #beatMs = Number.NEGATIVE_INFINITY;
  #settings: SharedSettings = {};
  /** Of the record; -1 where there is none. */
  #version = -1;
  /** What the record says, as the registry had it; undefined before the first. */
  #told: Exposition | undefined;
  /** What the total has of this instance: its record holds what came since. */
  #folded: Exposition = new Map();
  #beating: Promise<void> | undefined;

  constructor(parts: FunctionInstanceParts) {
    this.#parts = parts;
    this.#registeredMs = parts.clock.nowMs();
  }

  /** Called with each invocation, behind its work. Never rejects: what fails is logged and comes with the next beat. */
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
    await this.#tell();
  }

  async #readSettings(): Promise<void> {
    const { states, onSettings } = this.#parts;
    this.#settings = await readSharedSettings(states);
    onSettings(this.#settings);
  }

  async #tell(): Promise<void> {
    const { records, text, self, clock } = this.#parts;
    const figures = figuresToTell(await text());
    const { leavingMs = Number.NEGATIVE_INFINITY } = this.#settings;
    const member: Member = {
      ...self,
      state: this.#registeredMs <= leavingMs ? 'LEAVING' : 'ACTIVE',
      registeredMs: this.#registeredMs,
      heartbeatMs: clock.nowMs(),
      isFunction: true,
    };
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const encoded = encodeFigures(sinceExposition(figures, this.#folded));
      if (await records.write({ member, figures: encoded }, this.#version)) {
        this.#version++;
        this.#told = figures;
        return;
      }
      await this.#lookAgain();
    }
    throw new Error('its record changes with every try');
  }

  async #lookAgain(): Promise<void> {
    const { records, self } = this.#parts;
    const found = await records.read(self.id);
    if (found === undefined && this.#told !== undefined) this.#folded = this.#told;
    this.#version = found?.version ?? -1;
  }
}
