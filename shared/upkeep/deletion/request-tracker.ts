/**
 * Delete requests of a tenant during a run: as last written, and how far each was processed. A request can
 * change at any time, by cancellation or by the progress of another process. Every write is conditional on
 * the version that was read. On a conflict, reads again and retries.
 */
import { CONFLICT, repeatConflicts } from '../../base/ports/repeat-conflicts.ts';
import type { DeleteRequest } from '../../storage/catalog/delete-request.ts';
import type { DeleteRequests } from '../../storage/catalog/delete-requests.ts';

/** Maximum number of conflicting writes. */
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
    const tracker = new RequestTracker(deletes, tenant);
    await tracker.#read();
    return tracker;
  }

  /** Sorted by creation time. */
  get all(): readonly DeleteRequest[] {
    return [...this.#byId.values()];
  }

  /** `undefined` if it was canceled. */
  get(id: string): DeleteRequest | undefined {
    return this.#byId.get(id);
  }

  /**
   * Writes the result of `change`, unless it is `undefined`. Returns the current request; `undefined` if it
   * is gone.
   */
  async change(
    id: string,
    change: (request: DeleteRequest) => DeleteRequest | undefined,
  ): Promise<DeleteRequest | undefined> {
    const tooMany = () =>
      new Error(
        `too many concurrent changes to delete request ${id} of tenant ${this.#tenant}; the next run retries`,
      );
    return repeatConflicts({ maxTries: MAX_TRIES, tooMany }, async () => {
      const before = this.#byId.get(id);
      if (before === undefined) return undefined;
      const after = change(before);
      if (after === undefined) return before;
      if (await this.#deletes.replace(before, after)) {
        this.#byId.set(id, after);
        return after;
      }
      await this.#read();
      return CONFLICT;
    });
  }

  async #read(): Promise<void> {
    const list = await this.#deletes.list(this.#tenant);
    this.#byId = new Map(list.map(request => [request.id, request]));
  }
}
