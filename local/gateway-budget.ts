/**
 * Bounds the bytes that bodies and responses of all requests hold. A body counts as it arrives, not as
 * declared, so a large declared length costs others nothing. When the budget is exhausted, slow bodies are
 * ended first. Then bodies are ended whose address holds more bytes than the address of the new one.
 */

import { ClientError } from '../shared/base/model/errors.ts';
import { OVERLOADED } from '../shared/server/http/errors.ts';
import type { Exchange } from './gateway-exchange.ts';

export interface BodyBudget {
  /** Returns false, and takes nothing, if the bytes are not available even after ending others. */
  take(exchange: Exchange, bytes: number): boolean;
  give(exchange: Exchange, bytes: number): void;
}

/** A body older than this ... */
const FAIR_MS = 1_000;
/** ... and slower than this, in bytes per ms, is ended first. A connection of 0.5 Mbit/s is as fast. */
const SLOW_BYTES_PER_MS = 64;

/** @param all exchanges that may hold bytes, in order of their start */
export function createBodyBudget(maxBytes: number, all: () => Iterable<Exchange>): BodyBudget {
  let held = 0;
  const overloaded = new ClientError(503, OVERLOADED);

  /** Exchanges that may be ended for `exchange`, slow ones first. */
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
          // Releases the bytes of the victim before it returns.
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

/** Maximum bytes of responses that clients have not read yet. */
const MAX_UNSENT_BYTES = 256 * 1024 * 1024;
/** A response younger than this is not ended. */
const FAIR_LEAVING_MS = 2_000;

/** Disconnects the clients with the most unread bytes, until the total is within the bound. */
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
