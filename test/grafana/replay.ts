/**
 * A store with two services of a shop, and requests to it as Grafana's server sends them: GET only, with the tenant and
 * what the server adds to each, gzip allowed.
 */
import { gunzipSync } from 'node:zlib';
import type { z } from 'zod';
import { MS_PER_MINUTE } from '../../shared/base/model/time-units.ts';
import type { QueryParams } from '../end-to-end/support/client.ts';
import { startStore, type TestStore } from '../end-to-end/support/store.ts';

const ENTRIES_PER_STREAM = 60;
const LEVELS = ['info', 'info', 'info', 'warn', 'error'];

export interface Replay {
  readonly store: TestStore;
  /** The hour in which the entries are, Unix ms. */
  readonly fromMs: number;
  readonly toMs: number;
  /** Status and text of an answer. */
  ask(path: string, query: QueryParams, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Parses a 200 response as the client does; throws the schema's error if it cannot. */
  read<T>(schema: z.ZodType<T>, ...request: Parameters<Replay['ask']>): Promise<T>;
}

interface Answer {
  readonly status: number;
  readonly text: string;
}

export async function startReplay(yaml = ''): Promise<Replay> {
  const store = await startStore(`auth_enabled: true\n${yaml}`);
  const toMs = Math.floor(Date.now() / MS_PER_MINUTE) * MS_PER_MINUTE;
  const fromMs = toMs - 60 * MS_PER_MINUTE;
  const base = { 'x-scope-orgid': 'shop', 'user-agent': 'Grafana/12.1.0', 'x-grafana-org-id': '1' };
  const pushed = await store.client.send({
    method: 'POST',
    path: '/loki/api/v1/push',
    headers: { ...base, 'content-type': 'application/json' },
    body: JSON.stringify({ streams: streamsFrom(fromMs) }),
  });
  if (pushed.status !== 204) throw new Error(`the push was answered ${pushed.status}: ${pushed.text}`);
  const ask: Replay['ask'] = async (path, query, headers = {}) => {
    const sent = { ...base, 'accept-encoding': 'gzip', ...headers };
    const { status, headers: got, bytes } = await store.client.send({ path, query, headers: sent });
    const plain = got['content-encoding'] === 'gzip' ? gunzipSync(bytes) : bytes;
    return { status, text: plain.toString() };
  };
  return {
    store,
    fromMs,
    toMs,
    ask,
    read: async (schema, ...request) => {
      const { status, text } = await ask(...request);
      if (status !== 200) throw new Error(`${request[0]} was answered ${status}: ${text}`);
      return schema.parse(JSON.parse(text));
    },
  };
}

function streamsFrom(fromMs: number) {
  const at = (i: number) => `${fromMs + i * MS_PER_MINUTE + 1}000000`;
  const numbers = Array.from({ length: ENTRIES_PER_STREAM }, (_, i) => i);
  const level = (i: number) => LEVELS[i % LEVELS.length];
  return [
    {
      stream: { app: 'checkout', namespace: 'shop', pod: 'checkout-0' },
      values: numbers.map(i => [
        at(i),
        JSON.stringify({
          level: level(i),
          msg: `order ${i} paid`,
          took: `${i + 1}ms`,
          size: '12KB',
          http: { status: i % 5 === 4 ? 500 : 200, path: '/pay' },
          app: 'inner',
        }),
        { trace_id: `trace-${i % 7}` },
      ]),
    },
    {
      stream: { app: 'mail', namespace: 'shop', pod: 'mail-0' },
      values: numbers.map(i => [
        at(i),
        `level=${level(i)} msg="mail ${i} sent" retries=${i % 3} ok=true share=0.5`,
      ]),
    },
  ];
}
