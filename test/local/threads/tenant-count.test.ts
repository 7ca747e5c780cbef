/** Running calls of a tenant and of others, at the time of a call. */
import { expect, test } from '@jest/globals';
import { TenantCount } from '../../../local/threads/tenant-count.ts';

test('counts calls until they end, however they end', async () => {
  const count = new TenantCount();
  const open: (() => void)[] = [];
  const hold = (tenant: string) => count.count(tenant, () => new Promise<void>(done => open.push(done)));
  const seen = (tenant: string) => count.count(tenant, async running => running());
  expect(await seen('a')).toEqual({ own: 0, others: 0 });
  const held = [hold('a'), hold('b'), hold('b')];
  expect(await seen('a')).toEqual({ own: 1, others: 2 });
  expect(await seen('b')).toEqual({ own: 2, others: 1 });
  expect(await seen('c')).toEqual({ own: 0, others: 3 });
  for (const end of open) end();
  await Promise.all(held);
  await expect(count.count('a', () => Promise.reject(new Error('gone')))).rejects.toThrow('gone');
  expect(await seen('a')).toEqual({ own: 0, others: 0 });
});
