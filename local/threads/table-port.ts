/**
 * Direct connection of a thread to the table thread. Every push commits, so commits do not pass through the
 * front thread, which connects the two only once:
 *
 *     ingest-0 -- table-port --> front -- connect --> table
 *     ingest-0 <---------------- commits ----------> table
 *
 * If the table thread is lost, its pending commits reject, and the next one connects to its successor.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Clock } from '../../shared/base/ports/clock.ts';
import type { Write } from '../../shared/base/ports/table.ts';
import { ThrottledError } from '../../shared/base/ports/throttled.ts';
import { lostOf, ThreadLostError } from './thread-errors.ts';
import { errorOf, type ThrownError, thrownOf } from './thrown-errors.ts';

/** `nowMs` is the caller's time (Unix ms), which decides what has expired. */
export interface PortWrite {
  readonly id: number;
  readonly nowMs: number;
  readonly writes: readonly Write[];
}

interface PortReply {
  readonly id: number;
  readonly error?: ThrownError;
}

/** Maximum number of pending commits. More means that writes arrive faster than the disk can store them. */
export const MAX_PENDING_COMMITS = 20_000;

/** Side of the table thread. `commit` must not be delayed, because earlier messages come first. */
export function serveTablePort(port: MessagePort, commit: (write: PortWrite) => Promise<void>): void {
  const reply = (answer: PortReply) => port.postMessage(answer);
  port.on('message', (write: PortWrite) => {
    const { id } = write;
    commit(write).then(
      () => reply({ id }),
      (error: unknown) => reply({ id, error: thrownOf(error) }),
    );
  });
}

interface TablePortParts {
  /** Connects to the running table thread. */
  readonly connect: () => Promise<MessagePort>;
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Side of the thread that commits. */
export class TablePort {
  readonly #parts: TablePortParts;
  readonly #pending = new Map<number, PromiseWithResolvers<void>>();
  #connecting: Promise<MessagePort> | undefined;
  #nextId = 1;

  constructor(parts: TablePortParts) {
    this.#parts = parts;
  }

  /**
   * Same as Table.transact. Throws ClientError with status 503 if the table thread is lost; it is then
   * unknown whether the writes are stored.
   */
  async write(writes: readonly Write[]): Promise<void> {
    const port = await (this.#connecting ??= this.#connect());
    if (this.#pending.size >= MAX_PENDING_COMMITS) {
      throw new ThrottledError(`catalog write queue is full (${MAX_PENDING_COMMITS} writes pending); retry`);
    }
    const id = this.#nextId++;
    const answered = Promise.withResolvers<void>();
    this.#pending.set(id, answered);
    port.postMessage({ id, nowMs: this.#parts.clock.nowMs(), writes } satisfies PortWrite);
    await answered.promise;
  }

  async #connect(): Promise<MessagePort> {
    try {
      const port = await this.#parts.connect();
      port.on('message', ({ id, error }: PortReply) => {
        const answered = this.#pending.get(id);
        this.#pending.delete(id);
        if (error === undefined) answered?.resolve();
        else answered?.reject(errorOf(error));
      });
      port.on('close', () => this.#lost());
      return port;
    } catch (error) {
      this.#connecting = undefined;
      throw error;
    }
  }

  #lost(): void {
    this.#connecting = undefined;
    const lost = lostOf(new ThreadLostError('the thread of the catalog ended'));
    for (const answered of this.#pending.values()) answered.reject(lost);
    this.#pending.clear();
  }
}
