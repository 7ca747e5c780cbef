/**
 * Small named values that outlive processes: progress of maintenance, times of the last runs, and requests for work. A
 * value is JSON. Its version detects concurrent writers.
 *
 *     y/<name>   state
 */
import { CONFLICT, repeatConflicts } from '../../base/ports/repeat-conflicts.ts';
import { ConditionFailedError, type Table } from '../../base/ports/table.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';

/** Conflicts of a change with other processes before it fails. */
const MAX_TRIES = 10;

interface Versioned<T> {
  /** -1 if the value does not exist yet. */
  readonly version: number;
  readonly value: T;
}

export class States {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The value, or `initial` if it does not exist. */
  async read<T>(name: string, initial: T): Promise<Versioned<T>> {
    const item = await this.#table.get(keyOf(name));
    if (item === undefined) return { version: -1, value: initial };
    return { version: item.version, value: JSON.parse(Buffer.from(item.body).toString()) as T };
  }

  /**
   * Writes the result of `change`, unless it is `undefined`, and repeats that if another process writes in
   * between. Returns whether it wrote.
   */
  async change<T>(name: string, initial: T, change: (value: T) => T | undefined): Promise<boolean> {
    const tooMany = () => new ThrottledError(`too many concurrent changes to the state ${name}; retry`);
    return repeatConflicts({ maxTries: MAX_TRIES, tooMany }, async () => {
      const before = await this.read(name, initial);
      const value = change(before.value);
      if (value === undefined) return false;
      return (await this.replace(name, before, value)) || CONFLICT;
    });
  }

  /** Writes unless another process wrote since `before` was read; false then. */
  async replace<T>(name: string, before: Versioned<T>, value: T): Promise<boolean> {
    const { version } = before;
    const item = { ...keyOf(name), version: version + 1, body: Buffer.from(JSON.stringify(value)) };
    try {
      await this.#table.put(item, version < 0 ? { kind: 'absent' } : { kind: 'version', version });
      return true;
    } catch (error) {
      if (error instanceof ConditionFailedError) return false;
      throw error;
    }
  }
}

function keyOf(name: string) {
  return { pk: `y/${name}`, sk: 'state' };
}
