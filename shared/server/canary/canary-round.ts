/**
 * One round of the canary: pushes known entries and reads them back like a client.
 *
 *     push 20 lines   -->   read them: each once, at the first attempt   -->   read the last hour: of every round each line once
 *
 * It verifies the first guarantee of the store: every query returns an acknowledged entry exactly once from
 * then on. The second read verifies the effect of merging, indexing and deletion on older rounds. For a
 * canary that runs without end, see live-canary.ts.
 *
 * Pitfall: a round whose push got an error may have been stored. So only rounds with found lines are judged,
 * and those as a whole, because a push of one stream is stored at once.
 */
import { MS_PER_HOUR } from '../../base/model/time-units.ts';
import { countLines, judge } from './batches.ts';
import { type CanarySend, pushBatch, readLines } from './requests.ts';

interface CanaryParts {
  readonly send: CanarySend;
  /** Unix ms. Also measures the duration of requests. */
  readonly nowMs: () => number;
  /** Unique name of the round. */
  readonly round: string;
}

export interface CanaryReport {
  readonly ok: boolean;
  /** Time until the push was acknowledged; absent if it was not. */
  readonly pushMs?: number;
  /** Time until the pushed lines were read. */
  readonly readMs?: number;
  /** Number of missing lines. */
  readonly missing: number;
  /** Number of lines found more than once. */
  readonly repeated: number;
  /** Number of rounds found in the last hour. */
  readonly rounds: number;
  /** Description of the failure. */
  readonly failure?: string;
}

const LINES = 20;
const STREAM = { job: 'logboom-canary' };
const SELECTOR = '{job="logboom-canary"}';
/** Maximum difference between the clocks of two machines. */
const SKEW_MS = 60_000;
/** One round per minute for an hour, twice over. More lines are not from this canary. */
const MAX_READ_LINES = 2 * 60 * LINES;
const MAX_FAILURE_CHARACTERS = 300;

/** Never rejects. The report describes failures. */
export async function runCanaryRound({ send, nowMs, round }: CanaryParts): Promise<CanaryReport> {
  let report: CanaryReport = { ok: false, missing: 0, repeated: 0, rounds: 0 };
  try {
    const startedMs = nowMs();
    await pushBatch(send, { name: round, atMs: startedMs, lines: LINES }, STREAM);
    report = { ...report, pushMs: nowMs() - startedMs };

    const readStartedMs = nowMs();
    const around = { startMs: startedMs - SKEW_MS, endMs: startedMs + SKEW_MS, limit: MAX_READ_LINES };
    const fresh = countLines(await readLines(send, `${SELECTOR} |= "${round}"`, around)).get(round);
    report = { ...report, readMs: nowMs() - readStartedMs, ...judge(fresh, LINES) };

    const lastHour = { startMs: startedMs - MS_PER_HOUR, endMs: startedMs + SKEW_MS, limit: MAX_READ_LINES };
    const seen = countLines(await readLines(send, SELECTOR, lastHour));
    let { missing, repeated } = report;
    for (const [name, counts] of seen) {
      if (name === round) continue;
      const verdict = judge(counts, LINES);
      missing += verdict.missing;
      repeated += verdict.repeated;
    }
    report = { ...report, missing, repeated, rounds: seen.size };
    const wrong = report.missing + report.repeated;
    return wrong === 0
      ? { ...report, ok: true }
      : { ...report, failure: `${report.missing} lines are missing, ${report.repeated} are duplicates` };
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    return { ...report, failure: failure.slice(0, MAX_FAILURE_CHARACTERS) };
  }
}
