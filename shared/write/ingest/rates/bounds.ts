/** Numbers of the limits on rates and active streams, each with its reason. docs/reference/limits.md says what follows. */

/** Processes tell each other their demand at most this often for each tenant: the staleness of what they know. */
export const EXCHANGE_MS = 5000;
/** A demand holds for three exchanges, so that one that fails or comes late changes nothing. */
export const DEMAND_VALID_MS = 3 * EXCHANGE_MS;
/**
 * A process says nothing before it was offered this part of what the tenant may send in one interval. So a tenant costs
 * at most 10 writes/s at its limit, however many processes take its pushes; 420 KB by default, far more than one push.
 */
export const QUIET_PART = 1 / 50;
/**
 * Of the rate, this part is dealt out evenly and the rest by demand: a process that was offered little can take more at
 * once. With three processes one that was idle has 1/27 of the rate at least, and its burst.
 */
export const EVEN_PART = 1 / 9;
/**
 * What a process may know all processes together to have taken beyond rate and burst, in time: two intervals, since
 * what others took is known one interval late and their word may be one interval old.
 */
export const GROUP_SLACK_MS = 2 * EXCHANGE_MS;
/** An exchange that hangs, as in a function that was frozen, stands in the way of no other for longer. */
export const EXCHANGE_TIMEOUT_MS = 30_000;

/** Processes whose totals are remembered: those of a day where functions come and go. 100 bytes each. */
export const MAX_KNOWN_PROCESSES = 4000;
/** Streams told as hot by one process: 30 bytes each. A tenant's rate is a few times that of a stream by default. */
export const MAX_HOT_STREAMS = 64;

/** Buckets of streams in one generation, all tenants together; about 150 bytes each. */
export const MAX_STREAM_BUCKETS = 200_000;
/** A bucket that was not used in a whole generation is full again (5 s by default), as good as none. */
export const STREAM_GENERATION_MS = 60_000;

/** Tenants whose state is kept, as far as their streams leave room. */
export const MAX_TENANTS = 10_000;
/** Active streams of all tenants together; about 60 bytes each. */
export const MAX_KNOWN_STREAMS = 2_000_000;
/** What a tenant's state weighs without streams, in streams. */
export const TENANT_WEIGHT = MAX_KNOWN_STREAMS / MAX_TENANTS;
/**
 * The longest time that a push waits for what others announced, before the first decision of a process on a new stream
 * of a tenant. One read takes some milliseconds.
 */
export const FIRST_READ_MS = 1000;
/** Announcements are found by the time of the writer's clock: covers clocks that differ and writes that take long. */
export const ANNOUNCED_AGAIN_MS = 30_000;

/** Entries that the error of one stream tells (the reference's `max_returned_stream_errors`). */
export const MAX_TOLD_ENTRIES = 10;
