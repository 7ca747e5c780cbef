/**
 * Ends the receiving of pushes in a process on request (docs/dev/wire-format.md#flush-and-shutdown). Nothing is
 * only in memory, so flushing means compaction: pushed data is stored and found without it.
 */

import { ClientError } from '../../base/model/errors.ts';
import type { States } from '../../storage/catalog/states.ts';

export const STOPPED = 'Ingester is stopping or already stopped.';

export interface ShutdownOptions {
  /** Compact pushed data. */
  readonly flush: boolean;
  /** End the whole process. */
  readonly terminate: boolean;
}

/**
 * Interface for requests. A process (below) and function instances (fleet-shutdown.ts) implement it
 * differently.
 */
export interface ShutdownControl {
  /** Throws ClientError after the shutdown has started. */
  refusePushes(): void;
  /** True if the next stop also leaves the rings and flushes. */
  isPrepared(): Promise<boolean>;
  prepare(wanted: boolean): Promise<void>;
  /**
   * Returns false if it has already started. Rejects, without starting, if compaction cannot be requested.
   */
  begin(options: ShutdownOptions): Promise<boolean>;
  /** Called when the process receives a stop signal. */
  atStop(): Promise<void>;
}

export interface ShutdownParts {
  readonly states: States;
  /** Identifies the process across restarts, because the setting belongs to it. */
  readonly instance: string;
  readonly flush: () => Promise<void>;
  /** Removes the process from the rings. */
  readonly leave: () => Promise<void>;
  /** Called after the response. */
  readonly terminate: () => void;
}

export class Shutdown implements ShutdownControl {
  readonly #parts: ShutdownParts;
  #begun = false;

  constructor(parts: ShutdownParts) {
    this.#parts = parts;
  }

  refusePushes(): void {
    if (this.#begun) throw new ClientError(503, STOPPED);
  }

  async isPrepared(): Promise<boolean> {
    return (await this.#parts.states.read(this.#stateName, false)).value;
  }

  async prepare(wanted: boolean): Promise<void> {
    const { states } = this.#parts;
    for (;;) {
      const before = await states.read(this.#stateName, false);
      if (before.value === wanted) return;
      if (await states.replace(this.#stateName, before, wanted)) return;
    }
  }

  async begin({ flush, terminate }: ShutdownOptions): Promise<boolean> {
    if (this.#begun) return false;
    this.#begun = true;
    try {
      if (flush) await this.#parts.flush();
      await this.#parts.leave();
    } catch (error) {
      this.#begun = false;
      throw error;
    }
    if (terminate) this.#parts.terminate();
    return true;
  }

  async atStop(): Promise<void> {
    if (this.#begun || !(await this.isPrepared())) return;
    await this.#parts.flush();
    await this.#parts.leave();
  }

  get #stateName(): string {
    return `prepare-shutdown/${this.#parts.instance}`;
  }
}
