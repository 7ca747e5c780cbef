/** Limits of live tails in one place, each with its reason. */

/** Maximum entries of one frame, as in the reference. */
export const MAX_FRAME_ENTRIES = 100;
/** Maximum live entries that wait for a client: ten frames, as in the reference. */
export const MAX_QUEUED_ENTRIES = 10 * MAX_FRAME_ENTRIES;
/** Maximum bytes of these entries, because a line may have 256 KiB. 1,000 tails need at most 4 GB. */
export const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** Maximum dropped entries that are reported, as in the reference. Further ones are only counted. */
export const MAX_DROPPED_ENTRIES = 1000;
/**
 * Maximum entries that wait for `delay_for` of up to 5 s: a tail of 2,000 lines per second. Their bytes are
 * limited, too.
 */
export const MAX_HELD_ENTRIES = 10_000;
export const MAX_HELD_BYTES = 8 * 1024 * 1024;
/** Pause after a frame was refused because there were too many. */
export const THROTTLED_PAUSE_MS = 500;
/** Entries added to the queues at once, before clients get time to receive some. */
export const DELIVERED_AT_ONCE = 250;
/**
 * Maximum wait per burst for a client whose queue is full. A client on the same continent receives ten frames
 * in this time.
 */
export const PATIENCE_MS = 100;
/** Time after which a client that receives nothing is closed. No other check detects a broken connection. */
export const STUCK_MS = 120_000;

/**
 * Minimum pause between two dispatches, so that all pushes in between share their cost. An idle store
 * dispatches at once. A person does not notice 50 ms.
 */
export const TAIL_PAUSE_MS = 50;
/** Additional pause per tail of the process: a post takes 0.02 to 0.1 ms. */
export const PAUSE_MS_PER_TAIL = 0.5;
/** Share of busy time of the thread from which on pauses grow. */
export const BUSY_SHARE = 0.5;
/** Pause for a thread that is always busy. Posts then take a 50th of its time. */
export const BUSY_PAUSE_MS = 150;
export const BUSY_PAUSE_MS_PER_TAIL = 2.5;
/** Maximum pause. Lines are shown within 0.5 s and the time of a dispatch, however many tails there are. */
export const MAX_PAUSE_MS = 500;
/** Number of tails that are posted to before the thread yields: about 0.5 ms. */
export const TAILS_PER_SLICE = 12;
/** Maximum cached frames for tails with equal ones: those of DELIVERED_AT_ONCE entries in a few styles. */
export const MAX_SHARED_FRAMES = 8;

/** Maximum `delay_for` in seconds (docs/dev/wire-format.md#before-the-upgrade). */
export const MAX_DELAY_SECONDS = 5;
/** Maximum commits of this process that wait in memory. Further ones are read from the log. */
export const MAX_NOTICES = 2_000;
export const MAX_NOTICE_BYTES = 16 * 1024 * 1024;
/** Maximum chunks served in one batch, which bounds concurrent planning. */
export const MAX_BATCH_CHUNKS = 500;

/** Interval of renewing tails: three renewals before they would expire (SUBSCRIPTION_MS). */
export const RENEW_MS = 60_000;
/** How long commits are logged after the last renewal. */
export const MARKED_MS = 300_000;
/** Interval at which the log is read back by its full margin. In between only new commits are read. */
export const DEEP_READ_MS = 10_000;
/** Margin of reads in between. Most transactions are applied within it. */
export const SHALLOW_MARGIN_MS = 2_000;
/** Maximum time from the stamp of a transaction until all its items are applied, including retries. */
export const APPLIED_MS = 20_000;
/** Maximum time from the first visible item of a transaction until all are visible. */
export const VISIBLE_MS = 1_000;
/** How long an ID is remembered as served: longer than a commit may take, and than the margin of the log. */
export const SERVED_MS = 180_000;
/**
 * How long IDs of the lookback are remembered, because the log may still contain them (MAX_COMMIT_MS and
 * more).
 */
export const COVERED_MS = 900_000;
export const MAX_COVERED = 10_000;
/**
 * Maximum age of a cursor. After it the marker may have lapsed (MARKED_MS, less RENEW_MS), and later the
 * objects of merged chunks are deleted.
 */
export const MAX_CURSOR_AGE_MS = 200_000;
/** Minimum interval between cursor writes. Entries posted since the last write are repeated after a crash. */
export const SAVE_MS = 1_000;

/**
 * Time in the future that the lookback includes, because clocks differ. Twice the default grace of pushes.
 */
export const LOOKBACK_AHEAD_NS = 1_200_000_000_000n;
