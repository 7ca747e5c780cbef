/**
 * One round of the canary: pushes known entries and reads them back, the way a client does.
 *
 *     push 20 lines   -->   read them: each once, at the first try   -->   read the last hour: of every round each line once
 *
 * The promise that it watches is the store's first one: an acknowledged entry is in every answer from then on, exactly once.
 * The second look sees what merging, indexing and deletion made of older rounds. What a reader would get wrong: a round whose
 * push was answered with an error may have been stored; so only rounds that are seen are judged, and those as a whole, because
 * a push of one stream is stored at once. For a canary that runs without end, see live-canary.ts.
 */
import { MS_PER_HOUR } from '../../base/model/time-units.ts';
import { countLines, judge } from './batches.ts';
import { type CanarySend, pushBatch, readLines } from './requests.ts';

export interface CanaryParts {
  readonly send: CanarySend;
  /** Unix ms; also what time a request took is told by it. */
  readonly nowMs: () => number;
  /** Names the round: no other round has it. */
  readonly round: string;
}

export interface CanaryReport {
  readonly ok: boolean;
  /** Until the push was acknowledged; undefined where it was not. */
  readonly pushMs?: number;
  /** Until what was pushed was read. */
  readonly readMs?: number;
  /** Lines that should have been there, and were not. */
  readonly missing: number;
  /** Lines that were there more often than once. */
  readonly repeated: number;
  /** Rounds that were seen in the last hour. */
  readonly rounds: number;
  /** What went wrong, for people. */
  readonly failure?: string;
}

const LINES = 20;
const STREAM = { job: 'logboom-canary' };
const SELECTOR = '{job="logboom-canary"}';
/** Clocks of two machines differ. */
const SKEW_MS = 60_000;
/** A round each minute for an hour, twice over: more is none of this canary's. */
const MAX_READ_LINES = 2 * 60 * LINES;
const MAX_FAILURE_CHARACTERS = 300;

/** Never rejects: what went wrong is in the report. */
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
      : { ...report, failure: `${report.missing} lines are missing, ${report.repeated} came more than once` };
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    return { ...report, failure: failure.slice(0, MAX_FAILURE_CHARACTERS) };
  }
}
