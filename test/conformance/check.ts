/**
 * Pushes the corpus, sends the recorded requests, and reports which responses differ from the recorded ones.
 */
import {
  type ClientRequest,
  encodeParams,
  FORM_TYPE,
  type HttpClient,
} from '../end-to-end/support/client.ts';
import { mismatch, textMismatch } from './compare.ts';
import type { Exceptions } from './exceptions.ts';
import { loadPushes, queryText, type RecordedCase } from './recorded.ts';

/** Required settings of the store: entries of any age, several tenants in one query, default discovery. */
export const CONFORMANCE_CONFIG = `
auth_enabled: true
querier:
  multi_tenant_queries_enabled: true
limits_config:
  reject_old_samples: false
  # What the recording shows of the limits of the reference that it was made with.
  max_entries_limit_per_query: 100000
  max_query_series: 100000
  max_query_length: 0
  # Whatever the clock of this machine says.
  creation_grace_period: 1000000h
`;

export interface Verdict {
  readonly recorded: RecordedCase;
  /** Difference of the response; undefined if it equals the recorded one. */
  readonly problem?: string;
  /** Another text of an error: shown, not counted. */
  readonly textProblem?: string;
  /** Number of the difference that the case represents, if it is an exception. */
  readonly exception?: string;
}

/** Concurrent requests. More would only queue in one process. */
const CONCURRENCY = 4;

/** Merges every chunk of the corpus that can be merged, and makes the indexes. */
export async function compactCorpus(client: HttpClient): Promise<void> {
  for (const tenant of new Set(loadPushes().map(({ tenant }) => tenant))) {
    const headers = { 'x-scope-orgid': tenant };
    const { status, text } = await client.send({ method: 'POST', path: '/flush/tenant', headers });
    if (status !== 204) throw new Error(`the flush of ${tenant} was answered ${status}: ${text}`);
  }
}

/** Stores the corpus: all pushes in order. Throws if one is not answered with 204. */
export async function pushCorpus(client: HttpClient): Promise<void> {
  for (const [i, { tenant, body }] of loadPushes().entries()) {
    const { status, text } = await client.send({
      method: 'POST',
      path: '/loki/api/v1/push',
      headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant },
      body: JSON.stringify(body),
    });
    if (status !== 204) throw new Error(`push ${i} was answered ${status}: ${text}`);
  }
}

/** Verdicts in the order of the cases. */
export async function checkCases(
  client: HttpClient,
  cases: readonly RecordedCase[],
  exceptions: Exceptions,
): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < cases.length; i = next++) {
      const recorded = cases[i];
      const got = await client.send(requestOf(recorded));
      verdicts[i] = {
        recorded,
        problem: mismatch(recorded, got),
        textProblem: textMismatch(recorded, got),
        exception: exceptions.get(recorded.id),
      };
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return verdicts;
}

export function requestOf({
  method,
  path,
  query,
  form,
  headers,
  rawBody,
  tenant,
}: RecordedCase): ClientRequest {
  const sent: Record<string, string> = { ...headers };
  if (tenant !== null) sent['x-scope-orgid'] = tenant;
  if (method === 'POST-FORM') {
    const body = encodeParams(form ?? query ?? {});
    const type = { 'content-type': FORM_TYPE };
    return { method: 'POST', path, query: form ? query : {}, headers: { ...sent, ...type }, body };
  }
  return { method, path, query, headers: sent, body: rawBody ?? undefined };
}

/** Wrong answers, and exceptions that are none: what a test fails for. */
export function failures(verdicts: readonly Verdict[]): Verdict[] {
  return verdicts.filter(({ problem, exception }) => (problem === undefined) === (exception !== undefined));
}

/** A few lines about one failure. */
export function explain({ recorded, problem, exception }: Verdict): string {
  const text =
    problem ?? `is excepted as ${exception}, but answered as recorded: take it out of exceptions.json`;
  return `${recorded.id}  ${queryText(recorded)}\n    ${text}`;
}

/** A line for each category: passed, total, excepted. */
export function table(verdicts: readonly Verdict[]): string {
  const rows = Object.entries(Object.groupBy(verdicts, verdict => verdict.recorded.category)).map(
    ([category, list = []]) => rowOf(category, list),
  );
  const lines = [['category', 'passed', 'total', 'exceptions'], ...rows, rowOf('all', verdicts)];
  return lines
    .map(
      ([name, passed, total, excepted]) =>
        `${name.padEnd(16)}${passed.padStart(8)}${total.padStart(8)}   ${excepted}`,
    )
    .join('\n');
}

function rowOf(category: string, verdicts: readonly Verdict[]): string[] {
  const passed = verdicts.filter(verdict => verdict.problem === undefined).length;
  const excepted = Object.entries(
    Object.groupBy(
      verdicts.filter(({ problem, exception }) => problem !== undefined && exception !== undefined),
      verdict => verdict.exception!,
    ),
  ).map(([number, list = []]) => `${number}: ${list.length}`);
  return [category, String(passed), String(verdicts.length), excepted.join(' ') || '-'];
}
