/** Times with a heavy tail: most are near the median, a few take many times as long. */
import type { Dice } from '../dice.ts';

interface TailedTime {
  readonly medianMs: number;
  /** Width of the usual spread, as a part of the median. */
  readonly spread: number;
  readonly slowShare: number;
  readonly slowFactor: number;
}

export function tailedMs(dice: Dice, { medianMs, spread, slowShare, slowFactor }: TailedTime): number {
  const usual = medianMs * (1 + spread * (2 * dice.next() - 1));
  return dice.chance(slowShare) ? usual * slowFactor * (0.5 + dice.next()) : usual;
}

/** Quantile of a list. */
export function quantile(list: readonly number[], part: number): number {
  const sorted = list.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))];
}
