/**
 * Bytes that bodies and responses of all requests may hold at once. A body counts as it arrives, not as it is declared, so that
 * naming a large one costs others nothing. When the bytes run out, bodies that arrive slowly are ended, and those of addresses that
 * hold more than the one that needs them.
 */

import { ClientError } from '../shared/base/model/errors.ts';
import { OVERLOADED } from '../shared/server/http/errors.ts';
import type { Exchange } from './gateway-exchange.ts';

export interface BodyBudget {
  /** False if the bytes are not to be had, even by ending others; nothing is taken then. */
  take(exchange: Exchange, bytes: number): boolean;
  give(exchange: Exchange, bytes: number): void;
}

/** A body that has had this time ... */
const FAIR_MS = 1_000;
/** ... and comes more slowly, bytes per ms, is ended first. A connection of 0.5 Mbit/s is as fast. */
const SLOW_BYTES_PER_MS = 64;

/** @param all exchanges that may hold bytes, in the order of their beginning */
export function createBodyBudget(maxBytes: number, all: () => Iterable<Exchange>): BodyBudget {
  let held = 0;
  const overloaded = new ClientError(503, OVERLOADED);

  /** Those that may be ended for `exchange`, the slow ones first. */
  function victims(exchange: Exchange, bytes: number): Exchange[] {
    const ofAddress = new Map<string, number>();
    for (const { address, heldBytes } of all()) {
      ofAddress.set(address, (ofAddress.get(address) ?? 0) + heldBytes);
    }
    const own = (ofAddress.get(exchange.address) ?? 0) + bytes;
    const arriving = [...all()].filter(
      other => other !== exchange && other.isArriving && other.heldBytes > 0,
    );
    const slow = arriving.filter(isSlow);
    const heavier = arriving.filter(other => ofAddress.get(other.address)! > own && !slow.includes(other));
    return [...slow, ...heavier];
  }

  return {
    take(exchange, bytes) {
      if (bytes > maxBytes) return false;
      if (held + bytes > maxBytes) {
        for (const victim of victims(exchange, bytes)) {
          // What it holds is given back before this returns.
          victim.end(overloaded);
          if (held + bytes <= maxBytes) break;
        }
        if (held + bytes > maxBytes) return false;
      }
      held += bytes;
      exchange.heldBytes += bytes;
      return true;
    },
    give(exchange, bytes) {
      held -= bytes;
      exchange.heldBytes -= bytes;
    },
  };
}

function isSlow(exchange: Exchange): boolean {
  const ageMs = exchange.ageMs(performance.now());
  return ageMs > FAIR_MS && exchange.receivedBytes < ageMs * SLOW_BYTES_PER_MS;
}

/** Responses that clients have not taken may hold so much. */
const MAX_UNSENT_BYTES = 256 * 1024 * 1024;
/** Before this a response is on its way. */
const FAIR_LEAVING_MS = 2_000;

/** Cuts off the clients that leave most lying, oldest first, until what is unsent is bounded. */
export function boundUnsent(all: () => Iterable<Exchange>, maxBytes = MAX_UNSENT_BYTES): void {
  let unsent = 0;
  for (const { unsentBytes } of all()) unsent += unsentBytes;
  if (unsent <= maxBytes) return;
  const nowMs = performance.now();
  const late = [...all()].filter(one => one.isLeaving && one.ageMs(nowMs) > FAIR_LEAVING_MS);
  for (const one of late.sort((a, b) => b.unsentBytes - a.unsentBytes)) {
    one.incoming.socket.destroy();
    unsent -= one.unsentBytes;
    if (unsent <= maxBytes) return;
  }
}
