/** Of a thread beside the one that serves: whose work it is at, and requests of others that it is to give way to. */
import { RequestBoard } from '../shared/query/request-board.ts';

export class BoardOfThread {
  readonly #board = new RequestBoard();
  readonly #working = new Map<string, number>();

  /** To be given to the thread, which makes a RequestBoard of it. */
  get memory(): SharedArrayBuffer {
    return this.#board.memory;
  }

  /** The thread has work of the tenant. Returns what is to be called when that is done. */
  enter(tenant: string): () => void {
    this.#working.set(tenant, (this.#working.get(tenant) ?? 0) + 1);
    return () => {
      const left = this.#working.get(tenant)! - 1;
      if (left > 0) this.#working.set(tenant, left);
      else this.#working.delete(tenant);
    };
  }

  /** See TenantLoadOptions.beginBeside: the thread gives way where it is at the work of another. */
  begin(tenant: string): (() => void) | undefined {
    const hasOthers = this.#working.size > (this.#working.has(tenant) ? 1 : 0);
    return hasOthers ? this.#board.begin() : undefined;
  }
}
