/** Totals of a stored push by the policy of its streams, for IngestObserver. */
import type { StreamTotals } from './validate-entries.ts';

interface PolicyTotals {
  /** Empty if none applies. */
  readonly policy: string;
  lines: number;
  /** Bytes of lines. */
  lineBytes: number;
  /** Bytes of names and values of metadata, as sent. */
  metadataBytes: number;
}

/**
 * Returns a total for each policy with entries. A caller that stores less of a stream than was accepted
 * lowers its totals first.
 */
export function totalsByPolicy(
  policyOf: readonly string[],
  { entries, lineBytes, metadataBytes }: StreamTotals,
): readonly PolicyTotals[] {
  const byPolicy = new Map<string, PolicyTotals>();
  for (let stream = 0; stream < policyOf.length; stream++) {
    if (entries[stream] === 0) continue;
    const policy = policyOf[stream];
    let totals = byPolicy.get(policy);
    if (totals === undefined) {
      totals = { policy, lines: 0, lineBytes: 0, metadataBytes: 0 };
      byPolicy.set(policy, totals);
    }
    totals.lines += entries[stream];
    totals.lineBytes += lineBytes[stream];
    totals.metadataBytes += metadataBytes[stream];
  }
  return [...byPolicy.values()];
}
