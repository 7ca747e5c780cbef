/**
 * Constants of rate limits and active-stream limits, each with its reason. docs/reference/limits.md describes
 * the effects.
 */

/**
 * Minimum interval between exchanges of demand for a tenant. It bounds the staleness of what processes know.
 */
export const EXCHANGE_MS = 5000;
/** Validity of a demand: three exchanges, so one that fails or is late changes nothing. */
export const DEMAND_VALID_MS = 3 * EXCHANGE_MS;
/**
 * Share of a tenant's rate per interval below which a process reports nothing. So a tenant costs at most 10
 * writes/s at its limit, however many processes receive its pushes. The default is 420 KB, far more than one
 * push.
 */
export const QUIET_PART = 1 / 50;
/**
 * Share of the rate that is divided evenly; demand divides the rest. A process with little demand can then
 * take more at once. With three processes, an idle one has at least 1/27 of the rate, and its burst.
 */
export const EVEN_PART = 1 / 9;
/**
 * Excess over rate and burst of all processes together that a process tolerates, as time. Two intervals: what
 * others took is known one interval late, and their report may be one interval old.
 */
export const GROUP_SLACK_MS = 2 * EXCHANGE_MS;
/** Time after which an exchange that hangs, as in a frozen function, no longer blocks others. */
export const EXCHANGE_TIMEOUT_MS = 30_000;

/**
 * Maximum processes whose totals are stored: those of a day in which functions start and stop. 100 bytes
 * each.
 */
export const MAX_KNOWN_PROCESSES = 4000;
/**
 * Maximum hot streams that one process reports, 30 bytes each. By default a tenant's rate is a few times that
 * of a stream.
 */
export const MAX_HOT_STREAMS = 64;

/** Maximum stream buckets in one generation, all tenants together. About 150 bytes each. */
export const MAX_STREAM_BUCKETS = 200_000;
/**
 * Duration of a generation. A bucket that was unused for a whole generation is full again (after 5 s by
 * default), so it can be dropped.
 */
export const STREAM_GENERATION_MS = 60_000;

/** Maximum tenants with stored state, if their streams leave enough memory. */
const MAX_TENANTS = 10_000;
/** Maximum active streams of all tenants together. About 60 bytes each. */
export const MAX_KNOWN_STREAMS = 2_000_000;
/** Weight of a tenant's state without streams, in streams. */
export const TENANT_WEIGHT = MAX_KNOWN_STREAMS / MAX_TENANTS;
/**
 * Maximum time that a push waits for announcements of other processes. It waits before the first decision of
 * a process on a new stream of a tenant. One read takes a few milliseconds.
 */
export const FIRST_READ_MS = 1000;
/**
 * Overlap of reads of announcements, which are found by the writer's clock. It covers clock differences and
 * slow writes.
 */
export const ANNOUNCED_AGAIN_MS = 30_000;

/** Maximum entries in the error of one stream (the reference's `max_returned_stream_errors`). */
export const MAX_REPORTED_ENTRIES = 10;
