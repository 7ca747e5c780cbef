/** Tells others that this process is there, again and again, and that it leaves. See shared/storage/catalog/members.ts. */

import { messageOf } from '../../base/model/errors.ts';
import type { Clock } from '../../base/ports/clock.ts';
import type { Member, MemberState, Members } from '../catalog/members.ts';

/** One small write; the reference's period. */
export const HEARTBEAT_MS = 15_000;
/** Without a heartbeat for this long a member is unhealthy; the reference's time. */
export const UNHEALTHY_AFTER_MS = 60_000;

export interface MembershipParts {
  readonly members: Members;
  readonly clock: Clock;
  readonly self: Pick<Member, 'id' | 'address' | 'zone' | 'components'>;
  readonly log: { warn(fields: object, message: string): void };
}

export class Membership {
  readonly #parts: MembershipParts;
  readonly #registeredMs: number;
  /** Undefined: it has left, and nothing that is told later brings it back. */
  #state: MemberState | undefined = 'JOINING';
  /** Writes go one after another: a heartbeat on its way when it leaves would land after the removal. */
  #writing: Promise<void> = Promise.resolve();

  constructor(parts: MembershipParts) {
    this.#parts = parts;
    this.#registeredMs = parts.clock.nowMs();
  }

  /** Rejects where the store does. */
  async join(): Promise<void> {
    await this.#tell('ACTIVE');
  }

  /** Until the signal aborts. A heartbeat that fails is logged, and the next one tries again. */
  async keepAlive(signal: AbortSignal): Promise<void> {
    const { clock, log } = this.#parts;
    while (!signal.aborted) {
      try {
        await clock.sleep(HEARTBEAT_MS, signal);
        await this.#tell(this.#state);
      } catch (error) {
        if (signal.aborted) return;
        log.warn({ err: error }, `heartbeat failed: ${messageOf(error)}`);
      }
    }
  }

  /** Says nothing of one that has left. */
  leaving(): Promise<void> {
    return this.#tell('LEAVING');
  }

  /** The member is gone, at once. */
  left(): Promise<void> {
    const { members, self } = this.#parts;
    this.#state = undefined;
    return this.#inTurn(() => members.remove(self.id));
  }

  #tell(state: MemberState | undefined): Promise<void> {
    const { members, self, clock } = this.#parts;
    // It has left.
    if (this.#state === undefined || state === undefined) return Promise.resolve();
    this.#state = state;
    return this.#inTurn(async () => {
      if (this.#state === undefined) return;
      await members.put({ ...self, state, registeredMs: this.#registeredMs, heartbeatMs: clock.nowMs() });
    });
  }

  #inTurn(write: () => Promise<void>): Promise<void> {
    const done = this.#writing.then(write);
    this.#writing = done.catch(() => {});
    return done;
  }
}

/** A function instance tells of itself once a minute, while it is called: idle ones and dead ones look alike. */
export const FUNCTION_UNHEALTHY_AFTER_MS = 5 * 60_000;

/** As ring pages show it. */
export function shownState(member: Member, nowMs: number): MemberState | 'UNHEALTHY' {
  const { state, heartbeatMs, isFunction } = member;
  const silentMs = isFunction === true ? FUNCTION_UNHEALTHY_AFTER_MS : UNHEALTHY_AFTER_MS;
  return nowMs - heartbeatMs > silentMs ? 'UNHEALTHY' : state;
}
