/**
 * How the part of a process that takes pushes ends by request (docs/dev/wire-format.md#flush-and-shutdown). Nothing is in
 * memory only, so flushing means packing: what was pushed is stored and found without it.
 */

import { ClientError } from '../../base/model/errors.ts';
import type { States } from '../../storage/catalog/states.ts';

export const STOPPED = 'Ingester is stopping or already stopped.';

export interface ShutdownOptions {
  /** Pack what was pushed. */
  readonly flush: boolean;
  /** End the whole process. */
  readonly terminate: boolean;
}

/** What requests may ask; who is asked differs between a process (below) and function instances (fleet-shutdown.ts). */
export interface ShutdownControl {
  /** Throws ClientError once it has begun. */
  refusePushes(): void;
  /** Whether the next stop is a full one: out of the rings, and flushed. */
  isPrepared(): Promise<boolean>;
  prepare(wanted: boolean): Promise<void>;
  /** False where it has begun already. Rejects where packing cannot be asked for; it has not begun then. */
  begin(options: ShutdownOptions): Promise<boolean>;
  /** What a process does that was told to stop. */
  atStop(): Promise<void>;
}

export interface ShutdownParts {
  readonly states: States;
  /** The same after a restart: whose setting it is. */
  readonly instance: string;
  readonly flush: () => Promise<void>;
  /** Takes the process out of the rings. */
  readonly leave: () => Promise<void>;
  /** Called behind the answer. */
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
