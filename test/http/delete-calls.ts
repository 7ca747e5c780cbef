/** Calls of the delete API with parameters in the URL. */
import type { TestProcess } from '../maintenance/store.ts';

export const DELETE_PATH = '/loki/api/v1/delete';
export const acme: Readonly<Record<string, string>> = { 'x-scope-orgid': 'acme' };

export type Given = Readonly<Record<string, string | number>>;

interface Call {
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export type AskedFor = readonly [method: string, given?: Given, call?: Call];

export async function fetchDeletes(process: TestProcess, ...[method, given = {}, call = {}]: AskedFor) {
  const { path = DELETE_PATH, headers = acme, body = '' } = call;
  const pairs = Object.entries(given).map(([name, value]): [string, string] => [name, `${value}`]);
  const rawQuery = new URLSearchParams(pairs).toString();
  const answer = await process.ask(method, path, { rawQuery, headers, body: Buffer.from(body) });
  return { ...answer, text: Buffer.from(answer.body).toString() };
}

/** Status and body. */
export async function shownAnswer(process: TestProcess, ...request: AskedFor): Promise<[number, string]> {
  const { status, text } = await fetchDeletes(process, ...request);
  return [status, text];
}
