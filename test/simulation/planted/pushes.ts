/** Bugs of the way from a push to its acknowledgement. */

import type { ObjectStore } from '../../../shared/base/ports/object-store.ts';
import type { ChunkRecord } from '../../../shared/storage/catalog/chunk-record.ts';
import { type GroupCommitParts, GroupCommitter } from '../../../shared/write/ingest/group-commit.ts';
import { type PushOutcome, type PushRequest, PushService } from '../../../shared/write/ingest/push.ts';
import type { Bug } from './bug.ts';

/**
 * Continues as soon as the objects are stored, while the records are in progress; earlier, the rows of the
 * push would change under it.
 */
function earlyCatalog(catalog: GroupCommitParts['catalog']): GroupCommitParts['catalog'] {
  return {
    addChunks: async (records: readonly ChunkRecord[]) => {
      catalog.addChunks(records).catch(() => undefined);
    },
  };
}

export const acknowledgesBeforeTheRecord: Bug = {
  name: 'acknowledges before the record',
  maxSeeds: 10,
  breaks: ['acknowledged-is-found'],
  committer: parts => new GroupCommitter({ ...parts, catalog: earlyCatalog(parts.catalog) }),
};

/** Remembers a push when it comes, not when it is stored: a retry of what failed is answered from memory. */
class ForgetfulPushes extends PushService {
  readonly #seen = new Set<string>();

  override async push(
    request: PushRequest,
    ...rest: Parameters<PushService['push']> extends [unknown, ...infer R] ? R : never
  ): Promise<PushOutcome> {
    const id = `${request.tenant} ${Buffer.from(request.body).toString()}`;
    if (this.#seen.has(id)) return { stored: new Uint32Array(0), error: undefined, isWhole: true };
    this.#seen.add(id);
    return super.push(request, ...rest);
  }
}

export const remembersPushesThatFailed: Bug = {
  name: 'remembers pushes that failed',
  maxSeeds: 60,
  breaks: ['acknowledged-is-found'],
  pushes: parts => new ForgetfulPushes(parts),
};

/** Acknowledges immediately and writes later: pending writes are lost when the process dies. */
function writeBehind(store: ObjectStore): ObjectStore {
  return {
    ...store,
    putIfAbsent: async (key, body) => {
      store.putIfAbsent(key, body).catch(() => undefined);
      return true;
    },
  };
}

export const writesRecordsBeforeObjects: Bug = {
  name: 'writes records before objects',
  maxSeeds: 20,
  knownSeed: 7,
  breaks: ['object-before-record', 'readers-miss-no-object'],
  store: writeBehind,
};

export const usesOneNameTwice: Bug = {
  name: 'uses one name for two objects',
  maxSeeds: 20,
  breaks: ['objects-never-change', 'object-before-record'],
  store: store => {
    let last: string | undefined;
    return {
      ...store,
      putIfAbsent: (key, body) => {
        const name = last ?? key;
        last = key;
        return store.putIfAbsent(name, body);
      },
    };
  },
};
