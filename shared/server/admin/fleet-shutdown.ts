/**
 * Shutdown where functions take the pushes. There is no process to end: Lambda ends instances by itself, and nothing is
 * in memory only. So a shutdown packs what was pushed and marks every instance of the ingester that is there as leaving;
 * they go on answering until Lambda ends them, and instances that begin later are not marked.
 */

import type { Clock } from '../../base/ports/clock.ts';
import type { Members } from '../../storage/catalog/members.ts';
import type { States } from '../../storage/catalog/states.ts';
import { changeSharedSettings, readSharedSettings } from './shared-settings.ts';
import type { ShutdownControl, ShutdownOptions } from './shutdown.ts';

export interface FleetShutdownParts {
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

  /** Never: who pushes would meet marked instances and new ones by chance. */
  refusePushes(): void {}

  async isPrepared(): Promise<boolean> {
    return (await readSharedSettings(this.#parts.states)).isShutdownPrepared === true;
  }

  prepare(wanted: boolean): Promise<void> {
    return changeSharedSettings(this.#parts.states, { isShutdownPrepared: wanted });
  }

  /** False where all instances that there are were marked before. */
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

  /** No instance hears of its end. */
  async atStop(): Promise<void> {}
}
