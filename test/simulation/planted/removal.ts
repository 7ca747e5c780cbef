/** Bugs of delete requests: in hiding and in removing entries. */
import type { DeleteRequest } from '../../../shared/storage/catalog/delete-request.ts';
import type { DropSource, RowDrops } from '../../../shared/upkeep/compaction/row-drops.ts';
import {
  DeleteFilterSource,
  type DeleteRequestReader,
  type TenantDeleteFilters,
} from '../../../shared/upkeep/deletion/delete-filters.ts';
import { MergeDrops, type MergeDropsParts } from '../../../shared/upkeep/deletion/merge-drops.ts';
import { like } from '../../support/like.ts';
import type { Bug } from './bug.ts';

type Lists = Pick<DeleteRequestReader, 'list'>;

/** Reads requests in another way than they are. */
function changedList<T extends Lists>(
  deletes: T,
  change: (request: DeleteRequest) => DeleteRequest | undefined,
): T {
  const list = async (tenant: string) =>
    (await deletes.list(tenant)).flatMap(request => change(request) ?? []);
  return like<Lists>(deletes, { list }) as T;
}

function changedDrops(parts: MergeDropsParts, change: (drops: RowDrops) => RowDrops): DropSource {
  const sound = new MergeDrops(parts);
  return {
    dropsOf: async tenant => change(await sound.dropsOf(tenant)),
    areInForce: (...asked) => sound.areInForce(...asked),
    expiredBeforeNs: tenant => sound.expiredBeforeNs(tenant),
  };
}

export const countsWhatIsHidden: Bug = {
  name: 'counts from footers what is hidden',
  needsRemoval: true,
  maxSeeds: 60,
  breaks: ['partials-are-filtered'],
  deleteFilters: parts => {
    const source = new DeleteFilterSource(parts);
    const forChunk =
      (deleteFilters: TenantDeleteFilters): TenantDeleteFilters['forChunk'] =>
      record => {
        const ofChunk = deleteFilters.forChunk(record);
        if (ofChunk === undefined) return undefined;
        const forPage: typeof ofChunk.forPage = page => {
          const deleteFilter = ofChunk.forPage(page);
          return deleteFilter && like(deleteFilter, { hiddenIn: () => [] });
        };
        return like(ofChunk, { forPage, mayTakeWhole: () => false });
      };
    const filtersOf = async (tenant: string) => {
      const deleteFilters = await source.filtersOf(tenant);
      return like(deleteFilters, { forChunk: forChunk(deleteFilters) });
    };
    return like(source, { filtersOf });
  },
};

export const remembersMasks: Bug = {
  name: 'keeps masks when requests have changed',
  needsRemoval: true,
  maxSeeds: 20,
  breaks: ['removed-is-hidden', 'acknowledged-is-found'],
  deleteFilters: ({ deletes, clock }) => {
    const version = async (tenant: string) => Math.min(1, await deletes.version(tenant));
    return new DeleteFilterSource({ deletes: like(deletes, { version }), clock });
  },
};

export const hidesForGood: Bug = {
  name: 'hides what was pushed after a request was processed',
  needsRemoval: true,
  maxSeeds: 60,
  breaks: ['acknowledged-is-found'],
  deleteFilters: ({ deletes, clock }) => {
    const unsealed = { pickedUpMs: undefined, sealedMs: undefined, processedMs: undefined };
    return new DeleteFilterSource({
      deletes: changedList(deletes, request => ({ ...request, ...unsealed })),
      clock,
    });
  },
};

export const claimsWithoutDropping: Bug = {
  name: 'says that it applied requests and does not',
  needsRemoval: true,
  maxSeeds: 20,
  breaks: ['claims-are-true'],
  drops: parts => changedDrops(parts, drops => ({ ...drops, of: () => undefined })),
};

export const dropsWhatMayBeCanceled: Bug = {
  name: 'takes out what nobody has picked up',
  needsRemoval: true,
  maxSeeds: 20,
  breaks: ['only-what-may-goes'],
  drops: parts => {
    const change = (request: DeleteRequest) => ({
      ...request,
      pickedUpMs: request.pickedUpMs ?? request.createdMs,
    });
    return new MergeDrops({ ...parts, deletes: changedList(parts.deletes, change) });
  },
};

export const finishesWithoutLooking: Bug = {
  name: 'seals and ends requests without looking',
  needsRemoval: true,
  maxSeeds: 20,
  breaks: ['deleted-is-gone'],
  deletion: parts => ({
    ...parts,
    store: parts.store,
    rewriter: { ...parts.rewriter, drops: blind(parts.rewriter.drops) },
  }),
};

export const goesOnAfterCancel: Bug = {
  name: 'goes on with requests that were canceled by force',
  needsRemoval: true,
  maxSeeds: 60,
  knownSeed: 9,
  breaks: ['only-what-may-goes', 'acknowledged-is-found'],
  drops: parts => {
    const seen = new Map<string, DeleteRequest>();
    const list = async (tenant: string) => {
      for (const request of await parts.deletes.list(tenant)) {
        if (request.processedMs === undefined) seen.set(`${tenant}/${request.id}`, request);
      }
      return [...seen.values()].filter(request => request.tenant === tenant);
    };
    return new MergeDrops({ ...parts, deletes: like(parts.deletes, { list }) });
  },
};

function blind(source: DropSource): DropSource {
  return {
    dropsOf: async tenant => ({ ...(await source.dropsOf(tenant)), deletesOf: () => undefined }),
    areInForce: (...asked) => source.areInForce(...asked),
    expiredBeforeNs: tenant => source.expiredBeforeNs(tenant),
  };
}
