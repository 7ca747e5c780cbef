/**
 * Shutdown of functions that receive pushes. There is no process to stop: Lambda ends instances itself, and
 * nothing is only in memory. So a shutdown compacts pushed data and marks every current instance of the
 * ingester as leaving. They keep serving until Lambda ends them, and later instances are not marked.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Members } from '../../storage/catalog/members.ts';
import type { States } from '../../storage/catalog/states.ts';
import { changeSharedSettings, readSharedSettings } from './shared-settings.ts';
import type { ShutdownControl, ShutdownOptions } from './shutdown.ts';

interface FleetShutdownParts {
  readonly states: States;
  readonly members: Members;
  readonly clock: Clock;
  readonly flush: () => Promise<void>;
}

const INGESTER = 'ingester';

export class FleetShutdown implements ShutdownControl {
  readonly #parts: FleetShutdownParts;

  constructor(parts: FleetShutdownParts) {
    this.#parts = parts;
  }

  /** Never refuses: a client would randomly reach marked and new instances. */
  refusePushes(): void {}

  async isPrepared(): Promise<boolean> {
    return (await readSharedSettings(this.#parts.states)).isShutdownPrepared === true;
  }

  prepare(wanted: boolean): Promise<void> {
    return changeSharedSettings(this.#parts.states, { isShutdownPrepared: wanted });
  }

  /** Returns false if all current instances were already marked. */
  async begin({ flush }: ShutdownOptions): Promise<boolean> {
    const { states, members, clock } = this.#parts;
    const { leavingMs = Number.NEGATIVE_INFINITY } = await readSharedSettings(states);
    const instances = (await members.list()).filter(({ components }) => components.includes(INGESTER));
    if (instances.length > 0 && instances.every(({ registeredMs }) => registeredMs <= leavingMs))
      return false;
    if (flush) await this.#parts.flush();
    await changeSharedSettings(states, { leavingMs: clock.nowMs() });
    return true;
  }

  /** Does nothing, because an instance is not notified of its end. */
  async atStop(): Promise<void> {}
}
