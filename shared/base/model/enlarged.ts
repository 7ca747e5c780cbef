/** Copies a typed array to the start of a larger one, which replaces it, and returns that one. */
export function enlarged<T extends ArrayLike<number> & { set(values: ArrayLike<number>): void }>(
  from: T,
  to: T,
): T {
  to.set(from);
  return to;
}
