/**
 * True state of the delete requests of a run: every change, at the moment when the table has it. Between the
 * first and the last item of a change, a request counts as both.
 */

import { INVARIANTS, mustHold } from '../../../shared/base/model/invariants.ts';
import type { Item, Write } from '../../../shared/base/ports/table.ts';
import { keyOfWrite } from '../../../shared/base/ports/table-rules.ts';
import type { DeleteRequest } from '../../../shared/storage/catalog/delete-request.ts';
import { decodeDeleteRequest } from '../../../shared/storage/catalog/delete-request-codec.ts';
import type { SimulatedEntry } from '../model.ts';
import { meaningOf } from './queries.ts';

export interface KnownRequest {
  request: DeleteRequest;
  readonly matches: (entry: SimulatedEntry) => boolean;
  /** Tick from which on every query must know it; Infinity while it is being created. */
  createdAt: number;
  /** Tick of the write that accepted it, or dated it again. */
  pickedUpAt: number;
  /** Tick of the write that sealed it. */
  sealedAt: number;
  /** Tick at which its canceling began, or may have begun: from then on nothing must be hidden for it. */
  cancelingAt: number;
  /** Tick, and Unix ms, from which on nothing may be hidden or removed for it. */
  canceledAt: number;
  canceledMs: number;
}

/** Visible effect of a change. */
type Step = 'sealed' | 'processed';

export class RequestHistory {
  readonly #byName = new Map<string, KnownRequest>();

  of(tenant: string): readonly KnownRequest[] {
    return [...this.#byName.values()].filter(({ request }) => request.tenant === tenant);
  }

  /** A party is about to cancel it: its further fate is unknown. */
  noteCanceling(tenant: string, id: string, tick: number): void {
    const known = this.#byName.get(`${tenant}/${id}`);
    if (known !== undefined) known.cancelingAt = Math.min(known.cancelingAt, tick);
  }

  /** Called before the writes are applied. */
  begin(writes: readonly Write[]): void {
    for (const request of writes.flatMap(putOf)) {
      const name = `${request.tenant}/${request.id}`;
      if (this.#byName.has(name)) continue;
      this.#byName.set(name, {
        request,
        matches: matcherOf(request),
        createdAt: Number.POSITIVE_INFINITY,
        pickedUpAt: Number.POSITIVE_INFINITY,
        sealedAt: Number.POSITIVE_INFINITY,
        cancelingAt: Number.POSITIVE_INFINITY,
        canceledAt: Number.POSITIVE_INFINITY,
        canceledMs: Number.POSITIVE_INFINITY,
      });
    }
  }

  /** After they are. What was sealed or processed by them, and not cut off by force. */
  end(writes: readonly Write[], tick: number, nowMs: number): readonly [KnownRequest, Step][] {
    const put = writes.flatMap(putOf);
    const steps: [KnownRequest, Step][] = [];
    for (const request of put) {
      const known = this.#byName.get(`${request.tenant}/${request.id}`)!;
      const before = known.request;
      if (known.createdAt === Number.POSITIVE_INFINITY) known.createdAt = tick;
      const isCut = known.cancelingAt < Number.POSITIVE_INFINITY && request.processedMs !== undefined;
      if (isCut) this.#cancel(known, tick, nowMs);
      else {
        checkStep(before, request);
        if (request.pickedUpMs !== before.pickedUpMs) known.pickedUpAt = tick;
        if (before.sealedMs === undefined && request.sealedMs !== undefined) {
          known.sealedAt = tick;
          steps.push([known, 'sealed']);
        }
        if (request.processedMs !== undefined) steps.push([known, 'processed']);
      }
      known.request = request;
    }
    for (const write of writes) {
      const [kind, tenant] = keyOfWrite(write).pk.split('/');
      if (write.kind !== 'delete' || (kind !== 'e' && kind !== 'f')) continue;
      if (put.some(({ id }) => id === write.key.sk)) continue;
      const known = this.#byName.get(`${tenant}/${write.key.sk}`);
      if (known !== undefined) this.#cancel(known, tick, nowMs);
    }
    return steps;
  }

  #cancel(known: KnownRequest, tick: number, nowMs: number): void {
    known.cancelingAt = Math.min(known.cancelingAt, tick);
    known.canceledAt = Math.min(known.canceledAt, tick);
    known.canceledMs = Math.min(known.canceledMs, nowMs);
  }
}

/** A request only advances; if it is dated again, it had no effect. */
function checkStep(before: DeleteRequest, after: DeleteRequest): void {
  const { id, pickedUpMs, sealedMs, processedMs } = after;
  const isInOrder =
    (sealedMs === undefined || (pickedUpMs !== undefined && pickedUpMs < sealedMs)) &&
    (processedMs === undefined || sealedMs !== undefined);
  const isKept =
    (before.pickedUpMs === undefined || pickedUpMs !== undefined) &&
    (before.sealedMs === undefined || (sealedMs === before.sealedMs && pickedUpMs === before.pickedUpMs)) &&
    before.processedMs === undefined;
  const isDatedAnew = before.pickedUpMs !== undefined && pickedUpMs !== before.pickedUpMs;
  const isFurther =
    after.bytesDone >= before.bytesDone &&
    (after.doneToNs ?? after.startNs) >= (before.doneToNs ?? after.startNs);
  const isSame = before === after || (isInOrder && isKept && (isDatedAnew || isFurther));
  mustHold(
    INVARIANTS.deletesMoveForward,
    isSame,
    () => `request ${id} goes back: ${text(before)} to ${text(after)}`,
  );
}

function text(request: DeleteRequest): string {
  return JSON.stringify(request, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value));
}

function putOf(write: Write): DeleteRequest[] {
  return write.kind === 'put' ? requestIn(write.item) : [];
}

function requestIn({ pk, body }: Item): DeleteRequest[] {
  const [kind, tenant] = pk.split('/');
  return kind === 'e' || kind === 'f' ? [decodeDeleteRequest(tenant, body)] : [];
}

function matcherOf({ query, startNs, endNs }: DeleteRequest): (entry: SimulatedEntry) => boolean {
  const holds = meaningOf(query);
  return entry => startNs <= entry.ns && entry.ns <= endNs && holds(entry);
}
