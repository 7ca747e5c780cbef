/**
 * Saved queries and boards of the explorer, shared by the users of a tenant. The catalog stores their content
 * unchanged. The HTTP API validates it (read-board.ts).
 *
 *     b/<tenant>   <kind>        heads of all items of a kind; its version rises with every change of any of them
 *     b/<tenant>   <kind>/<id>   an item
 *
 * Every write is one transaction on both items. So the list is exact, and its limit holds for concurrent writers. A
 * writer passes the version that it read, and an item that changed since is not replaced.
 */
import { BadRequestError, ClientError, CorruptionError } from '../../base/model/errors.ts';
import type { Clock, Ids } from '../../base/ports/clock.ts';
import { repeatConflicts } from '../../base/ports/repeat-conflicts.ts';
import type { Item, ItemKey, Table, Write } from '../../base/ports/table.ts';
import { ThrottledError } from '../../base/ports/throttled.ts';

export const SAVED_KINDS = ['queries', 'boards'] as const;
export type SavedKind = (typeof SAVED_KINDS)[number];

/** The heads of a kind share one item: 300 of up to 750 bytes are 225 KB, below MAX_ITEM_BODY_BYTES. */
export const MAX_SAVED: Readonly<Record<SavedKind, number>> = { queries: 300, boards: 200 };
/** Content as JSON. A board of 60 panels with a query of 1 KiB each takes 70 KiB. */
export const MAX_SAVED_BYTES: Readonly<Record<SavedKind, number>> = {
  queries: 64 * 1024,
  boards: 256 * 1024,
};
/** Maximum length of a description or query in the list, characters. */
const MAX_ABOUT_CHARACTERS = 120;
/** Attempts of a write. Writers of one tenant and kind conflict at the list, and one of them succeeds each time. */
const MAX_TRIES = 50;
const ID_BYTES = 8;
const ID = /^[0-9a-f]{16}$/;

const NAMES: Readonly<Record<SavedKind, string>> = { queries: 'saved query', boards: 'board' };

export interface SavedHead {
  readonly id: string;
  readonly name: string;
  /** First characters of the description or query. */
  readonly about: string;
  /** Starts at 1 and rises with each change. */
  readonly version: number;
  /** Unix ms of the last change. */
  readonly updatedMs: number;
}

interface SavedItem extends SavedHead {
  readonly content: unknown;
}

/** Content that a writer provides. */
export interface SavedContent {
  readonly name: string;
  readonly about: string;
  readonly content: unknown;
}

/** Status 409: the item changed or was deleted since the caller read it. */
export class SavedConflictError extends ClientError {
  constructor(kind: SavedKind, id: string, read: number, stored: number) {
    super(
      409,
      `${NAMES[kind]} ${id} was changed since version ${read} was read (current version: ${stored}); load it again, or save a copy`,
    );
  }
}

/** Status 404: the item does not exist. */
export class NoSavedItemError extends ClientError {
  constructor(kind: SavedKind, id: string) {
    super(404, `${NAMES[kind]} ${JSON.stringify(id.slice(0, 40))} does not exist; it may have been deleted`);
  }
}

interface Heads {
  readonly item: Item | undefined;
  readonly heads: readonly SavedHead[];
}

interface SavedItemsUpdate {
  readonly heads: readonly SavedHead[];
  readonly write: Write;
}

export class SavedItems {
  readonly #table: Table;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor({ table, clock, ids }: { readonly table: Table; readonly clock: Clock; readonly ids: Ids }) {
    this.#table = table;
    this.#clock = clock;
    this.#ids = ids;
  }

  /** Ordered by name. */
  async list(tenant: string, kind: SavedKind): Promise<readonly SavedHead[]> {
    const { heads } = await this.#heads(tenant, kind);
    return heads.toSorted((a, b) => (a.name === b.name ? 0 : a.name < b.name ? -1 : 1));
  }

  /** Throws NoSavedItemError. */
  async get(tenant: string, kind: SavedKind, id: string): Promise<SavedItem> {
    const item = ID.test(id) ? await this.#table.get(keyOf(tenant, kind, id)) : undefined;
    if (item === undefined) throw new NoSavedItemError(kind, id);
    return { ...(decode(item) as Omit<SavedItem, 'id' | 'version'>), id, version: item.version };
  }

  /** Throws BadRequestError if the tenant has MAX_SAVED items of the kind. */
  async create(tenant: string, kind: SavedKind, given: SavedContent): Promise<SavedHead> {
    const id = this.#ids.randomHex(ID_BYTES);
    return this.#put(tenant, kind, this.#headOf(id, 1, given), given.content);
  }

  /** Throws NoSavedItemError, and SavedConflictError if the stored version is not `version`. */
  async replace(
    tenant: string,
    kind: SavedKind,
    { id, version }: Pick<SavedHead, 'id' | 'version'>,
    given: SavedContent,
  ): Promise<SavedHead> {
    return this.#put(tenant, kind, this.#headOf(id, version + 1, given), given.content);
  }

  /** Throws like `replace`. */
  async delete(
    tenant: string,
    kind: SavedKind,
    { id, version }: Pick<SavedHead, 'id' | 'version'>,
  ): Promise<void> {
    await this.#write(tenant, kind, heads => {
      checkVersion(kind, heads, id, version);
      const key = keyOf(tenant, kind, id);
      return {
        heads: heads.filter(head => head.id !== id),
        write: { kind: 'delete', key, condition: { kind: 'version', version } },
      };
    });
  }

  /** Stores an item of another tenant unchanged, to rename a tenant. Keeps an item that exists already. */
  async adopt(tenant: string, kind: SavedKind, item: SavedItem): Promise<void> {
    const { content, ...head } = item;
    await this.#write(tenant, kind, heads =>
      heads.some(({ id }) => id === head.id)
        ? undefined
        : { heads: [...heads, head], write: putOf(tenant, kind, head, content, { kind: 'absent' }) },
    );
  }

  #headOf(id: string, version: number, { name, about }: SavedContent): SavedHead {
    return {
      id,
      name,
      about: about.slice(0, MAX_ABOUT_CHARACTERS).toWellFormed(),
      version,
      updatedMs: this.#clock.nowMs(),
    };
  }

  /** Writes an item. Version 1 is a new item. */
  async #put(tenant: string, kind: SavedKind, head: SavedHead, content: unknown): Promise<SavedHead> {
    const before = head.version - 1;
    await this.#write(tenant, kind, heads => {
      if (before === 0) {
        if (heads.length >= MAX_SAVED[kind])
          throw new BadRequestError(
            `too many ${kind}: ${heads.length}, limit: ${MAX_SAVED[kind]}; delete some of them first`,
          );
        return { heads: [...heads, head], write: putOf(tenant, kind, head, content, { kind: 'absent' }) };
      }
      checkVersion(kind, heads, head.id, before);
      return {
        heads: heads.map(known => (known.id === head.id ? head : known)),
        write: putOf(tenant, kind, head, content, { kind: 'version', version: before }),
      };
    });
    return head;
  }

  async #write(
    tenant: string,
    kind: SavedKind,
    plan: (heads: readonly SavedHead[]) => SavedItemsUpdate | undefined,
  ): Promise<void> {
    const tooMany = () =>
      new ThrottledError(`too many concurrent changes to the ${kind} of tenant ${tenant}; retry`);
    await repeatConflicts({ maxTries: MAX_TRIES, tooMany }, async () => {
      const { item, heads } = await this.#heads(tenant, kind);
      const step = plan(heads);
      if (step === undefined) return;
      const list = {
        pk: partitionOf(tenant),
        sk: kind,
        version: (item?.version ?? -1) + 1,
        body: Buffer.from(JSON.stringify(step.heads)),
      };
      const condition =
        item === undefined
          ? ({ kind: 'absent' } as const)
          : ({ kind: 'version', version: item.version } as const);
      await this.#table.transact([{ kind: 'put', item: list, condition }, step.write]);
    });
  }

  async #heads(tenant: string, kind: SavedKind): Promise<Heads> {
    const item = await this.#table.get({ pk: partitionOf(tenant), sk: kind });
    return { item, heads: item === undefined ? [] : (decode(item) as readonly SavedHead[]) };
  }
}

function checkVersion(kind: SavedKind, heads: readonly SavedHead[], id: string, version: number): void {
  const known = heads.find(head => head.id === id);
  if (known === undefined) throw new NoSavedItemError(kind, id);
  if (known.version !== version) throw new SavedConflictError(kind, id, version, known.version);
}

function putOf(
  tenant: string,
  kind: SavedKind,
  { id, version, ...head }: SavedHead,
  content: unknown,
  condition: { readonly kind: 'absent' } | { readonly kind: 'version'; readonly version: number },
): Write {
  const body = Buffer.from(JSON.stringify({ ...head, content }));
  if (body.length > MAX_SAVED_BYTES[kind])
    throw new BadRequestError(
      `the ${NAMES[kind]} takes ${body.length} bytes, limit: ${MAX_SAVED_BYTES[kind]}; divide it into several`,
    );
  return { kind: 'put', item: { ...keyOf(tenant, kind, id), version, body }, condition };
}

/** Throws CorruptionError. */
function decode({ sk, body }: Item): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString());
  } catch (error) {
    throw new CorruptionError(`saved item ${sk}: ${String(error)}`);
  }
}

function keyOf(tenant: string, kind: SavedKind, id: string): ItemKey {
  return { pk: partitionOf(tenant), sk: `${kind}/${id}` };
}

function partitionOf(tenant: string): string {
  return `b/${tenant}`;
}
