/** Handles requests from role threads to the front thread: commits, rate limits, sockets, tasks for other threads. */

import type { Connections } from '../../shared/base/ports/connections.ts';
import type { Write } from '../../shared/base/ports/table.ts';
import type { Log } from '../../shared/base/runtime/log.ts';
import type { RateDecisions } from '../rate-decision.ts';
import type { OpenedStorage } from '../storage.ts';
import { type Moved, ownBytes } from './messages.ts';
import type { RoleAsk, RoleTell } from './role-messages.ts';
import type { ThreadHub } from './thread-client.ts';
import { errorOf } from './thrown-errors.ts';

export interface HubParts {
  /** Table that commits for all threads. */
  readonly table: OpenedStorage['table'];
  /** Called after a commit for the thread, before the thread is notified. */
  readonly onCommitted?: ((writes: readonly Write[]) => Promise<void>) | undefined;
  /** See OpenedStorage. */
  readonly foldTable: OpenedStorage['foldTable'];
  readonly connectTable?: OpenedStorage['connectTable'];
  readonly decisions: RateDecisions;
  /** Sockets of live tails. */
  readonly connections: Connections;
  readonly log: Log;
  readonly onDefect: () => void;
  /** Passes a message on to threads of other roles. */
  pass(told: Exclude<RoleTell, { kind: 'log' | 'defect' }>): void;
  /** Runs a query task in the thread of this affinity. */
  task(affinity: number, task: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
  /** Runs a merge in an upkeep thread. */
  merge(task: Uint8Array, signal: AbortSignal): Promise<Uint8Array>;
}

function moved(reply: Uint8Array): Moved<Uint8Array> {
  const bytes = ownBytes(reply);
  return { value: bytes, moved: [bytes.buffer] };
}

export class FrontHub implements ThreadHub {
  readonly #parts: HubParts;

  constructor(parts: HubParts) {
    this.#parts = parts;
  }

  async reply(ask: unknown, signal: AbortSignal): Promise<Moved<unknown>> {
    const { table, onCommitted, foldTable, connectTable, connections, decisions, task, merge } = this.#parts;
    const asked = ask as RoleAsk;
    switch (asked.kind) {
      case 'write':
        await table.transact(asked.writes);
        await onCommitted?.(asked.writes);
        return { value: undefined };
      case 'table-port': {
        if (connectTable === undefined) throw new Error('the table has no thread');
        const port = await connectTable();
        return { value: port, moved: [port] };
      }
      case 'committed':
        await onCommitted?.(asked.writes);
        return { value: undefined };
      case 'fold':
        return { value: (await foldTable?.()) ?? false };
      case 'rates':
        return { value: await decisions.decide(asked.tenant, asked.asked) };
      case 'refusal':
        return { value: decisions.refusal(asked.tenant) };
      case 'task':
        return moved(await task(asked.affinity, asked.task, signal));
      case 'merge':
        return moved(await merge(asked.task, signal));
      case 'post':
        return { value: await connections.post(asked.connectionId, asked.message) };
      case 'connection':
        return { value: await connections.get(asked.connectionId) };
      case 'close':
        await connections.close(asked.connectionId, asked.options);
        return { value: undefined };
    }
  }

  hear(tell: unknown): void {
    const told = tell as RoleTell;
    const { log, onDefect, pass } = this.#parts;
    if (told.kind === 'log') {
      const { level, fields, error, message } = told;
      log[level](error === undefined ? fields : { ...fields, err: errorOf(error) }, message);
    } else if (told.kind === 'defect') onDefect();
    else pass(told);
  }
}
