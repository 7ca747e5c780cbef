/**
 * Limits as they come with each message, each time as a new object: what is compiled from them, and what they say of a stream, is
 * remembered by the object (WeakMaps of shared/ingest), so who gets the same ones again is given the first.
 */
import { isDeepStrictEqual } from 'node:util';
import type { Limits } from '../shared/model/limits.ts';
import { LruCache } from '../shared/model/lru.ts';

const MAX_TENANTS = 1000;

export class SameLimits {
  readonly #byTenant = new LruCache<string, Limits>(MAX_TENANTS);

  /** An object that equals `limits`: that of the tenant's last call where it is one. */
  of(tenant: string, limits: Limits): Limits {
    const known = this.#byTenant.get(tenant);
    if (known !== undefined && isDeepStrictEqual(known, limits)) return known;
    this.#byTenant.set(tenant, limits);
    return limits;
  }
}
