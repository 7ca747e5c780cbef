import { expect, test } from '@jest/globals';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { createAdmission } from '../../shared/server/http/admission.ts';
import { request, tenants } from './request.ts';

const config = {
  ...DEFAULT_CONFIG,
  auth: { ...DEFAULT_CONFIG.auth, authEnabled: true },
  querier: { ...DEFAULT_CONFIG.querier, maxConcurrent: 1 },
  frontend: { ...DEFAULT_CONFIG.frontend, maxOutstandingPerTenant: 2 },
};
const asked = (tenant: string) => request({ tenants: tenants(tenant) });

/** Tasks that report when they start, and end on request. */
function begun(pushSlots = 1) {
  const admit = createAdmission({ config, pushSlots });
  const log: string[] = [];
  const ends: (() => void)[] = [];
  const run = (cost: Parameters<typeof admit>[0], tenant: string, name: string) =>
    admit(
      cost,
      () => {
        log.push(name);
        return new Promise<void>(end => ends.push(end));
      },
      asked(tenant),
    );
  const end = async () => {
    ends.shift()?.();
    await new Promise(resolve => setImmediate(resolve));
  };
  return { log, run, end };
}

test('queries wait for queries, pushes for pushes, and other requests never wait', async () => {
  const { log, run, end } = begun();
  const all = [
    run('query', 'a', 'query 1'),
    run('query', 'a', 'query 2'),
    run('push', 'a', 'push 1'),
    run('push', 'a', 'push 2'),
    run('light', 'a', 'status'),
    run('maintenance', 'a', 'flush'),
  ];
  expect(log).toEqual(['query 1', 'push 1', 'status', 'flush']);
  for (let i = 0; i < all.length; i++) await end();
  await Promise.all(all);
  expect(log.slice(4).sort()).toEqual(['push 2', 'query 2']);
});

test.each(['query', 'push'] as const)(
  'a %s of another tenant does not wait behind all of one tenant',
  async cost => {
    const { log, run, end } = begun();
    const all = [run(cost, 'a', 'a1'), run(cost, 'a', 'a2'), run(cost, 'a', 'a3'), run(cost, 'b', 'b1')];
    for (let i = 0; i < all.length; i++) await end();
    await Promise.all(all);
    expect(log).toEqual(['a1', 'a2', 'b1', 'a3']);
  },
);

test.each(['query', 'push'] as const)('a %s beyond the limit is refused with 429', async cost => {
  const { run, end } = begun();
  const all = [run(cost, 'a', 'a1'), run(cost, 'a', 'a2'), run(cost, 'a', 'a3')];
  await expect(run(cost, 'a', 'a4')).rejects.toMatchObject({ status: 429 });
  for (let i = 0; i < all.length; i++) await end();
  await Promise.all(all);
});

test('one tenant never occupies all slots for pushes', async () => {
  const { log, run, end } = begun(4);
  const all = [1, 2, 3, 4].map(i => run('push', 'a', `a${i}`));
  all.push(run('push', 'b', 'b1'));
  expect(log).toEqual(['a1', 'a2', 'a3', 'b1']);
  for (let i = 0; i < all.length; i++) await end();
  await Promise.all(all);
});
