/**
 * One round of the canary: pushes known entries and reads them back, the way a client does.
 *
 *     push 20 lines   -->   read them: each once, at the first try   -->   read the last hour: of every round each line once
 *
 * The promise that it watches is the store's first one: an acknowledged entry is in every answer from then on, exactly once.
 * The second look sees what merging, indexing and deletion made of older rounds. What a reader would get wrong: a round whose
 * push was answered with an error may have been stored; so only rounds that are seen are judged, and those as a whole, because
 * a push of one stream is stored at once.
 */
export interface CanaryAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends a request to the store as the canary's tenant. Rejects where there is no answer in time. */
export type CanarySend = (request: {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** JSON. */
  readonly body?: string;
}) => Promise<CanaryAnswer>;

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
const SELECTOR = '{job="logboom-canary"}';
const HOUR_MS = 3_600_000;
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
    const pushed = await send({
      method: 'POST',
      path: '/loki/api/v1/push',
      body: pushBody(startedMs, round),
    });
    if (pushed.status !== 204) throw new Error(`the push was answered ${told(pushed)}`);
    report = { ...report, pushMs: nowMs() - startedMs };

    const readStartedMs = nowMs();
    const around = { startMs: startedMs - SKEW_MS, endMs: startedMs + SKEW_MS };
    const fresh = countOf(await read(send, `${SELECTOR} |= "${round}"`, around)).get(round) ?? new Map();
    report = { ...report, readMs: nowMs() - readStartedMs, ...judged([fresh]) };

    const lastHour = { startMs: startedMs - HOUR_MS, endMs: startedMs + SKEW_MS };
    const seen = countOf(await read(send, SELECTOR, lastHour));
    const older = [...seen].filter(([name]) => name !== round).map(([, counts]) => counts);
    const { missing, repeated } = judged(older);
    report = {
      ...report,
      missing: report.missing + missing,
      repeated: report.repeated + repeated,
      rounds: seen.size,
    };
    const wrong = report.missing + report.repeated;
    return wrong === 0
      ? { ...report, ok: true }
      : { ...report, failure: `${report.missing} lines are missing, ${report.repeated} came more than once` };
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    return { ...report, failure: failure.slice(0, MAX_FAILURE_CHARACTERS) };
  }
}

function pushBody(nowMs: number, round: string): string {
  const firstNs = BigInt(Math.trunc(nowMs)) * 1_000_000n;
  const values = Array.from({ length: LINES }, (_, i) => [`${firstNs + BigInt(i)}`, `canary ${round} ${i}`]);
  return JSON.stringify({ streams: [{ stream: { job: 'logboom-canary' }, values }] });
}

/** Lines that match, of the store's answer. Throws where there is none. */
async function read(
  send: CanarySend,
  query: string,
  { startMs, endMs }: { readonly startMs: number; readonly endMs: number },
): Promise<string[]> {
  const answer = await send({
    method: 'GET',
    path: '/loki/api/v1/query_range',
    query: {
      query,
      start: `${Math.trunc(startMs)}000000`,
      end: `${Math.trunc(endMs)}000000`,
      limit: `${MAX_READ_LINES}`,
      direction: 'forward',
    },
  });
  if (answer.status !== 200) throw new Error(`the query was answered ${told(answer)}`);
  const { data } = JSON.parse(answer.text) as {
    data: { result: readonly { readonly values: readonly (readonly [string, string])[] }[] };
  };
  return data.result.flatMap(({ values }) => values.map(([, line]) => line));
}

/** Round → number of a line → how often it came. */
function countOf(lines: readonly string[]): Map<string, Map<number, number>> {
  const rounds = new Map<string, Map<number, number>>();
  for (const line of lines) {
    const [, round, number] = /^canary (\w+) (\d+)$/.exec(line) ?? [];
    if (round === undefined) continue;
    const counts = rounds.get(round) ?? new Map<number, number>();
    rounds.set(round, counts.set(Number(number), (counts.get(Number(number)) ?? 0) + 1));
  }
  return rounds;
}

function judged(rounds: readonly ReadonlyMap<number, number>[]): { missing: number; repeated: number } {
  let [missing, repeated] = [0, 0];
  for (const counts of rounds) {
    missing += LINES - counts.size;
    for (const count of counts.values()) if (count > 1) repeated++;
  }
  return { missing, repeated };
}

function told({ status, text }: CanaryAnswer): string {
  return `${status}: ${text.trim()}`;
}
