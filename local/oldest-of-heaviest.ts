/**
 * Selects what to close first at a limit: the oldest occupant of the address with the most. An address that
 * opens 1,000 connections loses its own, and an address with a few keeps them.
 */

interface Occupant {
  readonly address: string;
}

/**
 * Selects up to `count` of `occupants`, which are in order of their start. Each selection counts: an address
 * is the heaviest only until it has as few left as the next one.
 */
export function oldestOfHeaviest<T extends Occupant>(occupants: readonly T[], count: number): T[] {
  // Ranks an occupant within its address, newest first. The oldest of the heaviest address has the highest
  // rank.
  const seen = new Map<string, number>();
  const ranked = occupants.toReversed().map(occupant => {
    const rank = (seen.get(occupant.address) ?? 0) + 1;
    seen.set(occupant.address, rank);
    return { occupant, rank };
  });
  // The stable sort of the reversed order keeps the older of two equals first.
  return ranked
    .reverse()
    .sort((a, b) => b.rank - a.rank)
    .slice(0, count)
    .map(({ occupant }) => occupant);
}
