/**
 * Commits of an ingest thread to an embedded table. They go to the table thread directly, because one front
 * thread could not handle the commits of many ingest threads. If there are live tails, the front thread relays
 * commits to them (tail-relay.ts) before the push is acknowledged.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Clock } from '../../shared/base/ports/clock.ts';
import { type StorageProblem, StorageUnavailableError } from '../../shared/base/ports/storage-unavailable.ts';
import type { Write } from '../../shared/base/ports/table.ts';
import { movedBodies } from './forwarded-table.ts';
import type { AskFront, SharedCount } from './role-messages.ts';
import { TablePort } from './table-port.ts';

interface CommitterParts {
  readonly ask: AskFront;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** See TailRelay. */
  readonly tailed: SharedCount;
  /** Called with the problem if a commit failed because of the disk. */
  readonly onDiskProblem: (problem: StorageProblem) => void;
}

/** Same as Table.transact. The bodies of the writes may be moved. */
export function committer({
  ask,
  clock,
  tailed,
  onDiskProblem,
}: CommitterParts): (writes: readonly Write[]) => Promise<void> {
  const connect = async () => (await ask({ kind: 'table-port' })) as MessagePort;
  const port = new TablePort({ clock, connect });
  const areTailed = () => Atomics.load(tailed, 0) > 0;
  return async writes => {
    if (areTailed()) {
      await ask({ kind: 'write', writes }, { moved: movedBodies(writes) });
      return;
    }
    try {
      await port.write(writes);
    } catch (error) {
      const problem = error instanceof StorageUnavailableError ? error.problem : undefined;
      if (problem !== undefined) onDiskProblem(problem);
      throw error;
    }
    // A tail that was opened meanwhile may have read the table before the commit.
    if (areTailed()) await ask({ kind: 'committed', writes });
  };
}
