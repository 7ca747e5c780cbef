/**
 * Counts the parts that the progress of a delete request is reported in (docs/dev/wire-format.md#create-a-request). Parts
 * are cut at multiples of the request's interval since 1970, the first from its start, the last to its end.
 * Adjacent parts share an instant. The parts are counted but never listed: a request over years in seconds
 * has a billion of them.
 */
import { floorDivide } from '../../base/model/floor-divide.ts';
import type { DeleteRequest } from '../../storage/catalog/delete-request.ts';

interface PartCounts {
  /** Total number of parts, at least 1. */
  readonly all: number;
  readonly done: number;
}

type Parted = Pick<DeleteRequest, 'startNs' | 'endNs' | 'intervalNs' | 'doneToNs' | 'processedMs'>;

export function countParts({ startNs, endNs, intervalNs, doneToNs, processedMs }: Parted): PartCounts {
  const all = cutsUpTo(endNs - 1n) + 1;
  if (processedMs !== undefined) return { all, done: all };
  if (doneToNs === undefined || doneToNs <= startNs) return { all, done: 0 };
  return { all, done: doneToNs >= endNs ? all : cutsUpTo(doneToNs) };

  /** Cuts after the start, up to an inclusive instant. */
  function cutsUpTo(ns: bigint): number {
    if (intervalNs === 0n || ns <= startNs) return 0;
    return Number(floorDivide(ns, intervalNs) - floorDivide(startNs, intervalNs));
  }
}

/** `received`, `processed`, or `<n>% Complete`. */
export function statusText(request: Parted): string {
  if (request.processedMs !== undefined) return 'processed';
  const { all, done } = countParts(request);
  return done === 0 ? 'received' : `${Math.floor((done / all) * 100)}% Complete`;
}
