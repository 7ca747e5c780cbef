/** What a tail may hold and take, in one place, each number with its reason. */

/** Entries of one frame: the reference's. */
export const MAX_FRAME_ENTRIES = 100;
/** Live entries that wait for a client: ten frames, the reference's, ... */
export const MAX_QUEUED_ENTRIES = 10 * MAX_FRAME_ENTRIES;
/** ... and their bytes, because a line may have 256 KiB: with 1,000 tails, 4 GB at the very worst. */
export const MAX_QUEUED_BYTES = 4 * 1024 * 1024;
/** Entries that were dropped and are told of; beyond, they are only counted. The reference's. */
export const MAX_DROPPED_ENTRIES = 1000;
/** Entries that wait for `delay_for`, five seconds at most: a tail of 2,000 lines a second, and their bytes. */
export const MAX_HELD_ENTRIES = 10_000;
export const MAX_HELD_BYTES = 8 * 1024 * 1024;
/** After a frame was refused because there were too many. */
export const THROTTLED_PAUSE_MS = 500;
/** Entries handed to the queues at once, before clients get the chance to take some. */
export const DELIVERED_AT_ONCE = 250;
/** What a burst may wait for a client whose queue is full. A client on the same continent takes ten frames in it. */
export const PATIENCE_MS = 100;
/** A client that took nothing for so long is closed: on a broken line nobody else notices. */
export const STUCK_MS = 120_000;

/**
 * After a dispatch the next one begins so much later at the earliest, so that what it costs is shared by all pushes in
 * between; a store at rest dispatches at once. A person does not see 50 ms, ...
 */
export const REST_MS = 50;
/** ... and with many tails in the process it is longer: a post takes 0.02 to 0.1 ms. */
export const REST_MS_PER_TAIL = 0.5;
/** A thread that works so much of its time has none to give away: from here on rests grow, ... */
export const BUSY_SHARE = 0.5;
/** ... up to this one where it always works: then posts take a 50th of it. */
export const BUSY_REST_MS = 150;
export const BUSY_REST_MS_PER_TAIL = 2.5;
/** Lines are not shown later than that, half a second and the time of a dispatch, however many tails there are. */
export const MAX_REST_MS = 500;
/** Tails that are posted to before others get their turn: half a millisecond or so. */
export const TAILS_PER_TURN = 12;
/** Frames that are kept for tails that have the same: those of DELIVERED_AT_ONCE entries, and of some other styles. */
export const MAX_SHARED_FRAMES = 8;

/** Longest `delay_for`, seconds (docs/dev/wire-format.md#before-the-upgrade). */
export const MAX_DELAY_SECONDS = 5;
/** Of commits that were told in this process and are not served yet; beyond, they are read from the log. */
export const MAX_NOTICES = 2_000;
export const MAX_NOTICE_BYTES = 16 * 1024 * 1024;
/** Chunks that are served in one batch: bounds what is planned at once. */
export const MAX_BATCH_CHUNKS = 500;

/** How often tails are renewed: three times before they would expire (SUBSCRIPTION_MS). */
export const RENEW_MS = 60_000;
/** How long commits are logged after the last renewal. */
export const MARKED_MS = 300_000;
/** The log is read back by its margin as often as this; in between only what is new is read. */
export const DEEP_READ_MS = 10_000;
/** What a read goes back in between: transactions are applied within it, most often. */
export const SHALLOW_MARGIN_MS = 2_000;
/** From its stamp on, a transaction is applied to all of its items within this time, its tries included. */
export const APPLIED_MS = 20_000;
/** From when one item of a transaction is seen until all are. */
export const VISIBLE_MS = 1_000;
/** How long an id is remembered as served: longer than a commit may take, and than the margin of the log. */
export const SERVED_MS = 180_000;
/** Ids of the lookback that may come in the log: of what was begun in this time (MAX_COMMIT_MS and more). */
export const COVERED_MS = 900_000;
export const MAX_COVERED = 10_000;
/**
 * A cursor that is older cannot be followed: the marker may have lapsed since (MARKED_MS, less RENEW_MS), and later the
 * objects of merged chunks go.
 */
export const MAX_CURSOR_AGE_MS = 200_000;
/** A cursor is written at most so often: what was posted since is repeated after a death. */
export const SAVE_MS = 1_000;

/** Entries of the future are in the lookback, too: clocks differ. Twice the grace that pushes have by default. */
export const LOOKBACK_AHEAD_NS = 1_200_000_000_000n;
