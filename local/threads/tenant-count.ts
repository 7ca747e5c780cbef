/** Counts running calls per tenant. Admission control bounds their number. */
import type { RunningCalls } from './role-pool.ts';

export class TenantCount {
  readonly #running = new Map<string, number>();
  #all = 0;

  /**
   * Counts the call for the tenant until it ends. `others` returns the other running calls at the time it is
   * called.
   */
  async count<T>(tenant: string, call: (others: () => RunningCalls) => Promise<T>): Promise<T> {
    this.#add(tenant, 1);
    try {
      return await call(() => {
        const own = this.#running.get(tenant)!;
        return { own: own - 1, others: this.#all - own };
      });
    } finally {
      this.#add(tenant, -1);
    }
  }

  #add(tenant: string, by: number): void {
    const running = (this.#running.get(tenant) ?? 0) + by;
    if (running === 0) this.#running.delete(tenant);
    else this.#running.set(tenant, running);
    this.#all += by;
  }
}
