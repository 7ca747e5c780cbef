/**
 * Small named values that outlive processes: where maintenance stands, when it ran last, what was asked of it. A value
 * is JSON; its version lets two writers see each other.
 *
 *     y/<name>   state
 */
import { ConditionFailedError, type Table } from '../../base/ports/table.ts';

export interface Versioned<T> {
  /** -1 where there is none yet. */
  readonly version: number;
  readonly value: T;
}

export class States {
  readonly #table: Table;

  constructor(table: Table) {
    this.#table = table;
  }

  /** The value, or `initial` where there is none. */
  async read<T>(name: string, initial: T): Promise<Versioned<T>> {
    const item = await this.#table.get(keyOf(name));
    if (item === undefined) return { version: -1, value: initial };
    return { version: item.version, value: JSON.parse(Buffer.from(item.body).toString()) as T };
  }

  /** Writes unless somebody else did since `before` was read; false then. */
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
