/**
 * Deadline of a request: before the gateway or the platform gives up on it.
 *
 *     gateway receives          the function starts              query ends      answered      gateway: 503
 *     |------ start-up, queue ------|----------- work ----------------|--- grace ---|------------|
 *     timeEpoch                                                      +28 s        +28.5 s       +30 s
 *
 * Pitfall: the remaining time of the function does not include its start-up, but the gateway's timeout does.
 */

/** Maximum time from receipt to response, below the gateway's timeout of 30 s. */
export const ANSWER_WITHIN_MS = 28_000;
/**
 * Time for a handler to end after its signal aborts. It may be waiting for a read that does not use the
 * signal.
 */
export const GRACE_MS = 500;
/** Time between the deadline and the end of the function, for grace, compression and encoding. */
const RESERVE_MS = 1_000;

export interface DeadlineOptions {
  readonly nowMs: number;
  /** Unix time in ms when the gateway received the request, if known. */
  readonly receivedMs: number | undefined;
  /** Time until the platform ends the function. */
  readonly remainingMs: number;
}

/** Milliseconds from now until the request's signal aborts; 0 if the deadline has passed. */
export function deadlineMs({ nowMs, receivedMs, remainingMs }: DeadlineOptions): number {
  const sinceMs = receivedMs === undefined ? 0 : nowMs - receivedMs;
  // Ignores a receive time that is in the future or too old: it comes from a different clock.
  const ageMs = sinceMs >= 0 && sinceMs <= ANSWER_WITHIN_MS ? sinceMs : 0;
  return Math.max(0, Math.min(ANSWER_WITHIN_MS - ageMs, remainingMs - RESERVE_MS));
}
