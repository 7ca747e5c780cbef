/**
 * Request slots: limits concurrent requests. When no slot is free, a request that waits for its client (its
 * body does not arrive, or its response is not read) is ended for the new one. The oldest of the address with
 * the most slots is first.
 *
 * No cost class gets all slots: while slow queries hold theirs, pushes find free ones. Requests that are
 * answered immediately and have no body, such as `/ready` and `/metrics`, have separate slots. You can still
 * monitor a store under attack.
 */

import { ClientError } from '../shared/base/model/errors.ts';
import { OVERLOADED } from '../shared/server/http/errors.ts';
import type { CostClass } from '../shared/server/http/routes.ts';
import { declaredLength } from './gateway-body.ts';
import type { Exchange } from './gateway-exchange.ts';
import { oldestOfHeaviest } from './oldest-of-heaviest.ts';

interface GatewaySlots {
  /** Returns false if no slot is available, even after ending others. */
  take(exchange: Exchange): boolean;
  /** May be called more than once. */
  release(exchange: Exchange): void;
  /** Exchanges that hold a slot, in order of their start. */
  all(): Iterable<Exchange>;
}

/** Maximum share of the slots per cost class. */
const SHARES: Readonly<Record<CostClass, number>> = {
  push: 0.75,
  query: 0.5,
  light: 0.25,
  maintenance: 0.125,
};
/** Additional slots for light requests without a body. */
const RESERVED = 64;

export function createGatewaySlots(count: number): GatewaySlots {
  const common = new Set<Exchange>();
  const reserved = new Set<Exchange>();
  const ofKind: Record<CostClass, number> = { push: 0, query: 0, light: 0, maintenance: 0 };
  const overloaded = new ClientError(503, OVERLOADED);

  const release = (exchange: Exchange) => {
    if (common.delete(exchange)) ofKind[exchange.limits.cost]--;
    reserved.delete(exchange);
  };
  const isFreed = (slots: Set<Exchange>, isMeant: (other: Exchange) => boolean): boolean => {
    const waiting = [...slots].filter(other => other.isUpToClient && isMeant(other));
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
