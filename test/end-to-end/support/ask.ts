/** Questions to a store whose answers tests compare. */
import type { HttpClient, QueryParams } from './client.ts';

interface FoundEntry {
  readonly labels: Readonly<Record<string, string>>;
  readonly ns: bigint;
  readonly line: string;
}

interface StreamsAnswer {
  readonly data: {
    readonly resultType: string;
    readonly result: readonly {
      readonly stream: Record<string, string>;
      readonly values: readonly (readonly [string, string])[];
    }[];
  };
}

export type Root = '/svc' | '/loki';

interface AskOptions {
  readonly tenant?: string;
  readonly root?: Root;
}

/** Resolves to the JSON body of a GET; rejects if the status is not 200. */
export async function getJson(
  client: HttpClient,
  path: string,
  query: QueryParams,
  { tenant, root = '/loki' }: AskOptions = {},
): Promise<unknown> {
  const headers: Record<string, string> = tenant === undefined ? {} : { 'x-scope-orgid': tenant };
  const answer = await client.send({ path: `${root}${path}`, query, headers });
  if (answer.status !== 200) throw new Error(`${path} was answered ${answer.status}: ${answer.text}`);
  return answer.json();
}

/** Entries of a log query, in the order of the answer within each stream. */
export async function findEntries(
  client: HttpClient,
  query: QueryParams,
  options: AskOptions = {},
): Promise<FoundEntry[]> {
  const { data } = (await getJson(client, '/api/v1/query_range', query, options)) as StreamsAnswer;
  if (data.resultType !== 'streams') throw new Error(`the answer is a ${data.resultType}`);
  return data.result.flatMap(({ stream, values }) =>
    values.map(([ns, line]) => ({ labels: stream, ns: BigInt(ns), line })),
  );
}
