/**
 * Places for requests: so many at once. When they run out, a request that waits for its client (one that does not send its body, or
 * does not take its response) is ended for the newcomer, first of the address that has most of them.
 *
 * No kind of request gets all places: while slow queries hold theirs, pushes find some. Requests that are answered at once and bring
 * no body, such as `/ready` and `/metrics`, have places of their own, so that a store under attack can still be looked at.
 */

import { ClientError } from '../shared/base/model/errors.ts';
import { OVERLOADED } from '../shared/server/http/errors.ts';
import type { CostClass } from '../shared/server/http/routes.ts';
import { declaredLength } from './gateway-body.ts';
import type { Exchange } from './gateway-exchange.ts';
import { oldestOfHeaviest } from './oldest-of-heaviest.ts';

export interface Places {
  /** False if there is none, even by ending others. */
  take(exchange: Exchange): boolean;
  /** May be called more than once. */
  release(exchange: Exchange): void;
  /** Exchanges that hold a place, in the order of their beginning. */
  all(): Iterable<Exchange>;
}

/** Of all places, at most for requests of a kind. */
const SHARES: Readonly<Record<CostClass, number>> = {
  push: 0.75,
  query: 0.5,
  light: 0.25,
  maintenance: 0.125,
};
/** Beside the others, for light requests without a body. */
const RESERVED = 64;

export function createPlaces(count: number): Places {
  const common = new Set<Exchange>();
  const reserved = new Set<Exchange>();
  const ofKind: Record<CostClass, number> = { push: 0, query: 0, light: 0, maintenance: 0 };
  const overloaded = new ClientError(503, OVERLOADED);

  const release = (exchange: Exchange) => {
    if (common.delete(exchange)) ofKind[exchange.limits.cost]--;
    reserved.delete(exchange);
  };
  const isFreed = (places: Set<Exchange>, isMeant: (other: Exchange) => boolean): boolean => {
    const waiting = [...places].filter(other => other.isUpToClient && isMeant(other));
    const [ended] = oldestOfHeaviest(waiting, 1);
    if (ended === undefined) return false;
    release(ended);
    ended.end(overloaded);
    return true;
  };
  const takeReserved = (exchange: Exchange): boolean => {
    if (exchange.limits.cost !== 'light' || declaredLength(exchange.incoming) !== 0) return false;
    if (reserved.size >= RESERVED && !isFreed(reserved, () => true)) return false;
    reserved.add(exchange);
    return true;
  };

  return {
    take(exchange) {
      if (takeReserved(exchange)) return true;
      const { cost } = exchange.limits;
      const isFull = ofKind[cost] >= Math.ceil(count * SHARES[cost]);
      if (isFull && !isFreed(common, other => other.limits.cost === cost)) return false;
      if (common.size >= count && !isFreed(common, () => true)) return false;
      common.add(exchange);
      ofKind[cost]++;
      return true;
    },
    release,
    *all() {
      yield* common;
      yield* reserved;
    },
  };
}
