/** Announces this process to others with heartbeats, and its departure. See shared/storage/catalog/members.ts. */

import { messageOf } from '../../base/model/errors.ts';
import { MS_PER_MINUTE } from '../../base/model/time-units.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Member, MemberState, Members } from '../catalog/members.ts';

/** Time between heartbeats, ms: the reference's period. Each is one small write. */
export const HEARTBEAT_MS = 15_000;
/** Time without a heartbeat after which a member is unhealthy, ms: the reference's value. */
export const UNHEALTHY_AFTER_MS = 60_000;

interface MembershipParts {
  readonly members: Members;
  readonly clock: Clock;
  readonly self: Pick<Member, 'id' | 'address' | 'zone' | 'components'>;
  readonly log: { warn(fields: object, message: string): void };
}

export class Membership {
  readonly #parts: MembershipParts;
  readonly #registeredMs: number;
  /** Undefined after the member has left. Later writes do not bring it back. */
  #state: MemberState | undefined = 'JOINING';
  /** Serializes writes: a heartbeat in progress when the member leaves would otherwise be stored after the removal. */
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: MembershipParts) {
    this.#parts = parts;
    this.#registeredMs = parts.clock.nowMs();
  }

  /** Rejects if the store does. */
  async join(): Promise<void> {
    await this.#write('ACTIVE');
  }

  /** Sends heartbeats until the signal aborts. A failed heartbeat is logged, and the next one tries again. */
  async keepAlive(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    while (!signal.aborted) {
      try {
        await clock.sleep(HEARTBEAT_MS, signal);
        await this.#write(this.#state);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, `heartbeat failed: ${messageOf(error)}`);
      }
    }
  }

  /** Does nothing if the member has left. */
  leaving(): Promise<void> {
    return this.#write('LEAVING');
  }

  /** Removes the member immediately. */
  left(): Promise<void> {
    const { members, self } = this.#parts;
    this.#state = undefined;
    return this.#afterLastWrite(() => members.remove(self.id));
  }

  #write(state: MemberState | undefined): Promise<void> {
    const { members, self, clock } = this.#parts;
    // Skips a member that has left.
    if (this.#state === undefined || state === undefined) return Promise.resolve();
    this.#state = state;
    return this.#afterLastWrite(async () => {
      if (this.#state === undefined) return;
      await members.put({ ...self, state, registeredMs: this.#registeredMs, heartbeatMs: clock.nowMs() });
    });
  }

  #afterLastWrite(write: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(write);
    this.#writing = done.catch(() => {});
    return done;
  }
}

/**
 * Time without a heartbeat after which a function instance is unhealthy. It sends one per minute while it is called, so
 * idle and dead instances look alike.
 */
export const FUNCTION_UNHEALTHY_AFTER_MS = 5 * MS_PER_MINUTE;

/** State that ring pages show. */
export function shownState(member: Member, nowMs: number): MemberState | 'UNHEALTHY' {
  const { state, heartbeatMs, isFunction } = member;
  const silentMs = isFunction === true ? FUNCTION_UNHEALTHY_AFTER_MS : UNHEALTHY_AFTER_MS;
  return nowMs - heartbeatMs > silentMs ? 'UNHEALTHY' : state;
}
