import { expect, test } from '@jest/globals';
import { DEFAULT_CONFIG } from '../../shared/admin/config-fields.ts';
import { createQueryTurns } from '../../shared/http/query-turns.ts';
import { request } from './request.ts';

const config = {
  ...DEFAULT_CONFIG,
  auth: { ...DEFAULT_CONFIG.auth, authEnabled: true },
  querier: { ...DEFAULT_CONFIG.querier, maxConcurrent: 1 },
};
const asked = (tenant: string) => request({ headers: { 'x-scope-orgid': tenant } });

function noted() {
  const log: string[] = [];
  const turns = {
    begin(tenant: string) {
      log.push(`${tenant} begins`);
      return () => void log.push(`${tenant} ends`);
    },
  };
  return { log, inTurn: createQueryTurns({ config, turns }) };
}

test('a request is told of when its turn comes, and when it is answered or has failed', async () => {
  const { log, inTurn } = noted();
  const first = Promise.withResolvers<void>();
  const one = inTurn('query', () => first.promise, asked('a'));
  const other = inTurn('query', async () => Promise.reject(new Error('broken')), asked('b'));
  await inTurn('push', async () => undefined, asked('c'));
  expect(log).toEqual(['a begins', 'c begins', 'c ends']);
  first.resolve();
  await one;
  await expect(other).rejects.toThrow('broken');
  expect(log.slice(3)).toEqual(['a ends', 'b begins', 'b ends']);
});
