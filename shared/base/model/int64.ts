/** Bounds of 64-bit integers, such as nanoseconds since 1970 and the integers of Go. */
export const MIN_INT64 = -(2n ** 63n);
export const MAX_INT64 = 2n ** 63n - 1n;
