/**
 * The delete requests of a tenant while a run works on them: as they were last written, and how far each was looked through.
 * Somebody may cancel one, or another process write its progress, at any moment: what is written is on condition of what
 * was read, and where that fails it is read anew.
 */
import type { DeleteRequest } from '../../storage/catalog/delete-request.ts';
import type { DeleteRequests } from '../../storage/catalog/delete-requests.ts';

/** Writers that came in between. */
const MAX_TRIES = 5;

export class RequestTracker {
  readonly #deletes: DeleteRequests;
  readonly #tenant: string;
  #byId = new Map<string, DeleteRequest>();

  private constructor(deletes: DeleteRequests, tenant: string) {
    this.#deletes = deletes;
    this.#tenant = tenant;
  }

  static async open(deletes: DeleteRequests, tenant: string): Promise<RequestTracker> {
    const book = new RequestTracker(deletes, tenant);
    await book.#read();
    return book;
  }

  /** By time of creation. */
  get all(): readonly DeleteRequest[] {
    return [...this.#byId.values()];
  }

  /** Undefined where it was cancelled. */
  get(id: string): DeleteRequest | undefined {
    return this.#byId.get(id);
  }

  /** Writes what `change` makes of the request, unless it makes nothing; the request as it is then, undefined where it is gone. */
  async change(
    id: string,
    change: (request: DeleteRequest) => DeleteRequest | undefined,
  ): Promise<DeleteRequest | undefined> {
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const before = this.#byId.get(id);
      if (before === undefined) return undefined;
      const after = change(before);
      if (after === undefined) return before;
      if (await this.#deletes.replace(before, after)) {
        this.#byId.set(id, after);
        return after;
      }
      await this.#read();
    }
    throw new Error(
      `delete request ${id} of ${this.#tenant} changes faster than its progress can be written`,
    );
  }

  async #read(): Promise<void> {
    const list = await this.#deletes.list(this.#tenant);
    this.#byId = new Map(list.map(request => [request.id, request]));
  }
}
