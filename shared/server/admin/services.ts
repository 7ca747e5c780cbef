/**
 * Parts of a running process as services with a state each, as `/services` lists and `/ready` checks them
 * (docs/dev/wire-format.md#readiness-and-services). They start in the given order and stop in reverse order.
 *
 *     New -> Starting -> Running -> Stopping -> Terminated
 *              |           |          |
 *              +-----------+----------+------> Failed
 */
import { messageOf } from '../../base/model/errors.ts';

export type ServiceState = 'New' | 'Starting' | 'Running' | 'Stopping' | 'Terminated' | 'Failed';

const STATES: readonly ServiceState[] = ['New', 'Starting', 'Running', 'Stopping', 'Terminated', 'Failed'];

interface ServiceParts {
  /** Name of the corresponding module of the reference, if one exists. */
  readonly name: string;
  /** Rejects if the service cannot run. */
  readonly start?: () => Promise<void>;
  /** Called only if the service runs. */
  readonly stop?: () => Promise<void>;
}

/** Named services. A failure is recorded and prevents the start of later ones. */
export class Services {
  readonly #parts: readonly ServiceParts[];
  readonly #states = new Map<string, ServiceState>();

  constructor(parts: readonly ServiceParts[]) {
    this.#parts = parts;
    for (const { name } of parts) this.#states.set(name, 'New');
  }

  /**
   * Starts one after the other. Rejects with the error of the first that fails. Earlier ones keep running.
   */
  async start(): Promise<void> {
    for (const { name, start } of this.#parts) {
      this.#states.set(name, 'Starting');
      try {
        // Services without a start function run immediately.
        if (start !== undefined) await start();
        this.#states.set(name, 'Running');
      } catch (error) {
        this.#states.set(name, 'Failed');
        throw error;
      }
    }
  }

  /**
   * Stops all running services in reverse order. Rejects with an AggregateError at the end if some could not
   * stop.
   */
  async stop(): Promise<void> {
    const errors: unknown[] = [];
    // Changes all states at once, before the first service takes time to stop.
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

  /** Marks a running service as failed permanently. */
  fail(name: string): void {
    if (this.#states.has(name)) this.#states.set(name, 'Failed');
  }

  list(): ReadonlyMap<string, ServiceState> {
    return this.#states;
  }

  /** Reason why the process is not ready, with the reference's text; `undefined` if it is ready. */
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
