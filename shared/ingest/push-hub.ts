/** What pushes need of the thread that serves, wherever they are worked on: limits, the catalog, and who counts. */
import type { ChunkRecord } from '../catalog/chunk-record.ts';
import type { TenantLoad } from '../query/tenant-load.ts';
import type { GroupCommitOptions, WrittenGroup } from './group-commit.ts';
import type { IngestObserver } from './observer.ts';
import type { AskedRate, RateDecision } from './rates/rate-decision.ts';
import type { StoredPush } from './stored-push.ts';

export interface PushHub {
  readonly grouping: GroupCommitOptions;
  readonly load: Pick<TenantLoad, 'worksMuch' | 'noteBeside'>;
  readonly observer: IngestObserver;
  /** Another tenant wants this thread: it has asked or pushed lately, and none is held back because of pushes. */
  isWanted(tenant: string): boolean;
  decideRates(tenant: string, asked: AskedRate): Promise<RateDecision>;
  addChunks(records: readonly ChunkRecord[]): Promise<void>;
  onWritten(group: WrittenGroup): void;
  onStored(tenant: string, push: StoredPush): void;
  onFailed(): void;
}
