/**
 * By when a request must be answered: before the gateway or the platform gives up on it.
 *
 *     gateway receives          the function starts              query ends      answered      gateway: 503
 *     |------ start-up, queue ------|----------- work ----------------|--- grace ---|------------|
 *     timeEpoch                                                      +28 s        +28.5 s       +30 s
 *
 * What a reader would get wrong: the remaining time of the function does not count its start-up, the gateway's does.
 */
/** Of the gateway's 30 s. */
export const ANSWER_WITHIN_MS = 28_000;
/** For a handler to end by itself after its signal: it may wait for a read that knows no signal. */
export const GRACE_MS = 500;
/** Between the deadline and the end of the function: grace, compression, encoding. */
const RESERVE_MS = 1_000;

export interface DeadlineOptions {
  readonly nowMs: number;
  /** When the gateway received the request, Unix time in ms, where it says so. */
  readonly receivedMs: number | undefined;
  /** Until the platform ends the function. */
  readonly remainingMs: number;
  /** Of the route; 0 is none. */
  readonly routeMs: number;
}

/** Milliseconds from now until the signal of the request aborts; 0 where it is late already. */
export function deadlineMs({ nowMs, receivedMs, remainingMs, routeMs }: DeadlineOptions): number {
  const sinceMs = receivedMs === undefined ? 0 : nowMs - receivedMs;
  // A clock that is not the gateway's says nothing about the age of a request.
  const ageMs = sinceMs >= 0 && sinceMs <= ANSWER_WITHIN_MS ? sinceMs : 0;
  const limits = [ANSWER_WITHIN_MS - ageMs, remainingMs - RESERVE_MS];
  if (routeMs > 0) limits.push(routeMs);
  return Math.max(0, Math.min(...limits));
}
