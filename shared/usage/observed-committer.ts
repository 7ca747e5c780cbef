/** A committer that tells of each push once it is durable. */
import { type GroupCommitParts, GroupCommitter } from '../ingest/group-commit.ts';
import type { AcceptedPush } from '../ingest/push-columns.ts';

export type OnStored = (tenant: string, push: AcceptedPush) => void;

export class ObservedCommitter extends GroupCommitter {
  private readonly onStored: OnStored;

  constructor(parts: GroupCommitParts, onStored: OnStored) {
    super(parts);
    this.onStored = onStored;
  }

  override async commit(tenant: string, push: AcceptedPush): Promise<void> {
    await super.commit(tenant, push);
    this.onStored(tenant, push);
  }
}
