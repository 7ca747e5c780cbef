/**
 * Whom to close first when places run out: of the address that has most, the one that began first. So an address that opens a
 * thousand connections loses its own, and one that opens a few keeps them.
 */

export interface Occupant {
  readonly address: string;
}

/**
 * Up to `count` of `occupants`, which are in the order of their beginning. Each choice counts: an address is the heaviest only
 * until it has as few left as the next one.
 */
export function oldestOfHeaviest<T extends Occupant>(occupants: readonly T[], count: number): T[] {
  // The rank of an occupant is its place among those of its address, the newest first: the oldest of the heaviest has the highest.
  const seen = new Map<string, number>();
  const ranked = occupants.toReversed().map(occupant => {
    const rank = (seen.get(occupant.address) ?? 0) + 1;
    seen.set(occupant.address, rank);
    return { occupant, rank };
  });
  // A stable sort of the reversed order keeps the older of two equals first.
  return ranked
    .reverse()
    .sort((a, b) => b.rank - a.rank)
    .slice(0, count)
    .map(({ occupant }) => occupant);
}
