/** Live tails through the gateway: two tenants with the same query each see their own lines, those that were there and those that come. */
import { expect, test } from '@jest/globals';
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
        body: jsonPush([{ labels: { app: 'a' }, entries: [entry] }]),
      });
      expect(answer.status).toBe(204);
    };
    const tenants = ['ab', 'a'] as const;
    for (const tenant of tenants) await push(tenant, `${tenant} before`);
    const query = { query: '{app="a"}' };
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
