/**
 * The parts of a running process as services with a state each: what `/services` lists and `/ready` asks
 * (docs/dev/wire-format.md#readiness-and-services). They start in the order given and stop in the opposite one.
 *
 *     New -> Starting -> Running -> Stopping -> Terminated
 *              |           |          |
 *              +-----------+----------+------> Failed
 */
import { messageOf } from '../../base/model/errors.ts';

export type ServiceState = 'New' | 'Starting' | 'Running' | 'Stopping' | 'Terminated' | 'Failed';

const STATES: readonly ServiceState[] = ['New', 'Starting', 'Running', 'Stopping', 'Terminated', 'Failed'];

export interface ServiceParts {
  /** As the reference names its modules where it has such a one. */
  readonly name: string;
  /** Rejects where the service cannot run. */
  readonly start?: () => Promise<void>;
  /** Called only where it runs. */
  readonly stop?: () => Promise<void>;
}

/** Named services; a failure of one is told and stops the start of those behind it. */
export class Services {
  readonly #parts: readonly ServiceParts[];
  readonly #states = new Map<string, ServiceState>();

  constructor(parts: readonly ServiceParts[]) {
    this.#parts = parts;
    for (const { name } of parts) this.#states.set(name, 'New');
  }

  /** One after the other. Rejects with the error of the first that fails; those before it keep running. */
  async start(): Promise<void> {
    for (const { name, start } of this.#parts) {
      this.#states.set(name, 'Starting');
      try {
        // Those without work of their own run at once.
        if (start !== undefined) await start();
        this.#states.set(name, 'Running');
      } catch (error) {
        this.#states.set(name, 'Failed');
        throw error;
      }
    }
  }

  /** All that run, the last first. Rejects with an AggregateError when all are done, where some could not stop. */
  async stop(): Promise<void> {
    const errors: unknown[] = [];
    // Told at once, before the first of them takes its time.
    const running = this.#parts.filter(({ name }) => this.#states.get(name) === 'Running').toReversed();
    for (const { name } of running) this.#states.set(name, 'Stopping');
    for (const { name, stop } of running) {
      try {
        await stop?.();
        this.#states.set(name, 'Terminated');
      } catch (error) {
        this.#states.set(name, 'Failed');
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, errors.map(messageOf).join('; '));
  }

  /** What went wrong in a running service: it stays listed as failed. */
  fail(name: string): void {
    if (this.#states.has(name)) this.#states.set(name, 'Failed');
  }

  list(): ReadonlyMap<string, ServiceState> {
    return this.#states;
  }

  /** Why the process cannot serve now, with the reference's text; undefined where it can. */
  notReady(): string | undefined {
    const states = [...this.#states.values()];
    if (states.some(state => state === 'Stopping' || state === 'Terminated'))
      return 'Application is stopping';
    const counts = STATES.filter(state => state !== 'Running').flatMap(state => {
      const count = states.filter(one => one === state).length;
      return count === 0 ? [] : [`${state}: ${count}`];
    });
    return counts.length === 0 ? undefined : `Some services are not Running:\n${counts.join('\n')}`;
  }
}
