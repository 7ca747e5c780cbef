/** Logs of a small shop over the last 50 minutes, always the same but for the time: what tests and screenshots show. */
import type { ExploredStore } from './explorer.ts';

type Value = readonly [string, string, Readonly<Record<string, string>>?];

interface Stream {
  readonly stream: Readonly<Record<string, string>>;
  readonly values: Value[];
}

/** Within the last hour for some minutes more: a loaded machine takes its time. */
const SPAN_MS = 50 * 60_000;
const REGIONS = ['eu-central-1', 'us-east-1'];
const PATHS = ['/api/cart', '/api/checkout', '/api/products/1842', '/api/search?q=lamp', '/healthz'];
const ESCAPE = '\u001b[';

export const SHOP_QUERY = '{namespace="shop"}';

/** Pushes about 3,400 lines of four services that end at `endMs`. */
export async function pushShop(
  store: ExploredStore,
  endMs: number,
  headers: Record<string, string> = {},
): Promise<void> {
  const random = createRandom(7);
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)];
  const streams: Stream[] = [];
  for (const region of REGIONS) {
    const share = region === 'eu-central-1' ? 1 : 0.5;
    const stream = (
      service: string,
      count: number,
      make: (atMs: number) => [string, Record<string, string>?],
    ): void => {
      const values: Value[] = [];
      for (let i = 0; i < count * share; i++) {
        // Busier towards the end, with a wave.
        const part = (i + random()) / (count * share);
        const atMs = endMs - SPAN_MS * (1 - part ** 0.85) * (1 + 0.02 * Math.sin(part * 40));
        const [line, metadata] = make(atMs);
        const ns = `${BigInt(Math.floor(atMs)) * 1_000_000n + BigInt(i)}`;
        values.push(metadata === undefined ? [ns, line] : [ns, line, metadata]);
      }
      streams.push({ stream: { service_name: service, namespace: 'shop', region }, values });
    };
    const trace = () =>
      Math.floor(random() * 2 ** 48)
        .toString(16)
        .padStart(12, '0');

    stream('checkout', 800, () => {
      const failed = random() < 0.07;
      const level = failed ? 'error' : random() < 0.12 ? 'warn' : random() < 0.2 ? 'debug' : 'info';
      const order = 10_000 + Math.floor(random() * 9000);
      const body = failed
        ? {
            level,
            msg: 'payment declined',
            order,
            error: { code: 'card_declined', retry: false },
            duration_ms: 1840,
          }
        : {
            level,
            msg: pick(['order placed', 'cart priced', 'stock reserved']),
            order,
            items: 1 + Math.floor(random() * 6),
            duration_ms: Math.floor(12 + random() * 220),
          };
      return [JSON.stringify(body), { trace_id: trace(), pod: `checkout-${pick(['7f9c', 'b21a', 'd03e'])}` }];
    });
    stream('payment', 600, () => {
      const level = random() < 0.05 ? 'error' : random() < 0.1 ? 'warn' : 'info';
      const text =
        level === 'error' ? 'upstream timed out' : level === 'warn' ? 'slow answer of the bank' : 'charged';
      return [
        `level=${level} msg="${text}" provider=${pick(['adyen', 'stripe', 'klarna'])} amount=${(random() * 200).toFixed(2)} duration=${Math.floor(20 + random() * 900)}ms`,
        { trace_id: trace() },
      ];
    });
    stream('gateway', 700, atMs => {
      const status = random() < 0.03 ? 502 : random() < 0.06 ? 404 : 200;
      return [
        `10.2.${Math.floor(random() * 255)}.${Math.floor(random() * 255)} - - [${new Date(atMs).toISOString()}] "GET ${pick(PATHS)} HTTP/1.1" ${status} ${Math.floor(random() * 9000)} "-" "Mozilla/5.0" ${random().toFixed(3)}`,
        { detected_level: status >= 500 ? 'error' : status >= 400 ? 'warn' : 'info' },
      ];
    });
    stream('worker', 180, () => {
      const [name, color] = pick([
        ['INFO', '32'],
        ['WARN', '33'],
        ['DEBUG', '34'],
      ]);
      return [
        `${ESCAPE}${color};1m${name}${ESCAPE}0m ${ESCAPE}2mjobs.email${ESCAPE}0m sent receipt to ${ESCAPE}36mcustomer-${Math.floor(random() * 900)}${ESCAPE}0m in ${Math.floor(random() * 80)}ms`,
      ];
    });
  }
  await push(store, streams, headers);
}

/** Rejects where it is not answered with 204. */
export async function push(
  store: ExploredStore,
  streams: readonly Stream[],
  headers: Record<string, string> = {},
): Promise<void> {
  const answer = await fetch(`${store.url}/svc/api/v1/push`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ streams }),
  });
  if (answer.status !== 204) throw new Error(`${answer.status} ${await answer.text()}`);
}

/** A linear congruential generator: the same numbers each time. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}
