/**
 * Commits of a thread to an embedded table. They go to the table thread directly. If there are live tails,
 * the front thread relays commits of pushes to them (tail-relay.ts) before the push is acknowledged.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Clock } from '../../shared/base/ports/clock.ts';
import type { Write } from '../../shared/base/ports/table.ts';
import { movedBodies } from './forwarded-table.ts';
import type { Ask } from './role-messages.ts';
import { TablePort } from './table-port.ts';
import type { SharedCount } from './tail-relay.ts';

export interface CommitterParts {
  readonly ask: Ask;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** See TailRelay; `undefined` in a thread whose commits no tail shows. */
  readonly tailed: SharedCount | undefined;
}

/** Same as Table.transact. The bodies of the writes may be moved. */
export function committer({
  ask,
  clock,
  tailed,
}: CommitterParts): (writes: readonly Write[]) => Promise<void> {
  const connect = async () => (await ask({ kind: 'table-port' })) as MessagePort;
  const port = new TablePort({ clock, connect });
  const areTailed = () => tailed !== undefined && Atomics.load(tailed, 0) > 0;
  return async writes => {
    if (areTailed()) {
      await ask({ kind: 'write', writes }, { moved: movedBodies(writes) });
      return;
    }
    await port.write(writes);
    // A tail that was opened meanwhile may have read the table before the commit.
    if (areTailed()) await ask({ kind: 'committed', writes });
  };
}
