/** A committer that reports each push when it is durable or failed. */

import { runPaced } from '../../base/model/steps.ts';
import { type GroupCommitParts, GroupCommitter } from '../../write/ingest/group-commit.ts';
import type { AcceptedPush } from '../../write/ingest/push-columns.ts';
import { type StoredPush, storedOf } from '../../write/ingest/stored-push.ts';

export type OnStored = (tenant: string, push: StoredPush) => void;

export class ObservedCommitter extends GroupCommitter {
  /** Number of pushes in progress. */
  running = 0;
  readonly #onStored: OnStored;

  readonly #onFailed: () => void;

  constructor(parts: GroupCommitParts, onStored: OnStored, onFailed: () => void = () => undefined) {
    super(parts);
    this.#onStored = onStored;
    this.#onFailed = onFailed;
  }

  override async commit(tenant: string, push: AcceptedPush): Promise<void> {
    this.running++;
    let stored: StoredPush;
    try {
      // Before the commit, because the columns have left the processor's caches when it is done.
      stored = await runPaced(storedOf(push), this.scheduler.pace(tenant));
      await super.commit(tenant, push);
    } catch (error) {
      this.#onFailed();
      throw error;
    } finally {
      this.running--;
    }
    this.#onStored(tenant, stored);
  }
}
