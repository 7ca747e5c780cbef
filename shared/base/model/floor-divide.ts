/** Divides and rounds down, also below zero. The division of `bigint` rounds toward zero. `by` must be positive. */
export function floorDivide(value: bigint, by: bigint): bigint {
  const quotient = value / by;
  return value % by < 0n ? quotient - 1n : quotient;
}
