/** Live tails through the gateway: two tenants with the same query each see their own lines, those that were there and those that come. */
import { expect, test } from '@jest/globals';
import WebSocket from 'ws';
import { jsonPush } from '../end-to-end/support/push.ts';
import { startStore } from '../end-to-end/support/store.ts';
import { openTail } from '../end-to-end/support/tail-client.ts';

test('a tail shows nothing of another tenant, and another tenant cannot use it up', async () => {
  const store = await startStore(`
    auth_enabled: true
    limits_config: {max_concurrent_tail_requests: 1}
    logboom: {query_workers: 0, index_sync: false}
  `);
  try {
    let count = 0;
    const push = async (tenant: string, line: string) => {
      const entry = { ns: BigInt(Date.now()) * 1_000_000n + BigInt(count++), line, metadata: { of: tenant } };
      const answer = await store.client.send({
        method: 'POST',
        path: '/loki/api/v1/push',
        headers: { 'content-type': 'application/json', 'x-scope-orgid': tenant },
        body: jsonPush([{ labels: { app: 'x' }, entries: [entry] }]),
      });
      expect(answer.status).toBe(204);
    };
    const tenants = ['ab', 'a'] as const;
    for (const tenant of tenants) await push(tenant, `${tenant} before`);
    const query = { query: '{app="x"}' };
    const tails = await Promise.all(tenants.map(tenant => openTail(store, query, { tenant })));
    for (let i = 0; i < 10; i++) for (const tenant of tenants) await push(tenant, `${tenant} ${i}`);
    for (const [i, tail] of tails.entries()) {
      const own = Array.from({ length: 10 }, (_, n) => `${tenants[i]} ${n}`);
      expect(await tail.atLeast(11)).toEqual([`${tenants[i]} before`, ...own]);
      // Labels and all: a frame names the other tenant nowhere.
      const other = tenants[1 - i];
      expect(tail.texts.filter(text => text.includes(`"${other}"`) || text.includes(`"${other} `))).toEqual(
        [],
      );
    }
    // The one place of each tenant is taken by itself.
    const second = await openTail(store, query, { tenant: 'a' });
    expect((await second.closed).reason).toMatch(/max.*tail/i);
    const third = await openTail(store, query, { tenant: 'third' });
    await push('third', 'its own');
    expect(await third.atLeast(1)).toEqual(['its own']);
    await Promise.all([...tails, third].map(tail => tail.close()));
  } finally {
    await store.stop();
  }
});

test('hostile parameters and messages end the tail that brings them, and nothing else', async () => {
  const store = await startStore('{auth_enabled: true, logboom: {query_workers: 0, index_sync: false}}');
  try {
    const good = await openTail(store, { query: '{app="x"}' }, { tenant: 'good' });
    const params: Record<string, string>[] = [
      ...['x'.repeat(120_000), '('.repeat(10_000), '{app="\0', '{__proto__="a"', '{app=~"("}', '{{ . }}'].map(
        query => ({ query }),
      ),
      { query: '{app="x"}', limit: '1e9', start: '-1' },
    ];
    for (const given of params)
      expect(await endOf(store.url, given, 'bad')).toMatch(/^(400|413|431|closed 1\d+)$/);
    expect(await endOf(store.url, { query: '{app="x"}' }, '../good')).toBe('400');
    const large = await openTail(store, { query: '{app="x"}' }, { tenant: 'bad' });
    large.socket.send('x'.repeat(1_000_000));
    expect((await large.closed).code).toBe(1009);
    expect(good.socket.readyState).toBe(good.socket.OPEN);
    await good.close();
  } finally {
    await store.stop();
  }
});

/** The status of a refusal, or how the connection was closed. */
function endOf(url: string, params: Record<string, string>, tenant: string): Promise<string> {
  const address = `${url.replace('http', 'ws')}/loki/api/v1/tail?${new URLSearchParams(params)}`;
  const socket = new WebSocket(address, { headers: { 'x-scope-orgid': tenant } });
  return new Promise(resolve => {
    socket.on('unexpected-response', (_, { statusCode }) => {
      resolve(`${statusCode}`);
      socket.terminate();
    });
    socket.on('error', () => undefined);
    socket.on('close', code => resolve(`closed ${code}`));
  });
}
