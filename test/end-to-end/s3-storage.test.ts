/** `logboom start --storage s3` from its bundle, over HTTP: the SDK checks bucket and table, signed requests do the rest. */
import { randomBytes } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { send, withServices, withStore } from '../../bench/cloud/http/measure.ts';

const now = () => `${Date.now()}000000`;

test('entries are in the bucket and the table, and another process answers with them', async () => {
  // Too large for its record, so an object is written.
  const line = randomBytes(8_000).toString('hex');
  await withServices(async services => {
    await withStore(services, async ({ url }) => {
      const body = JSON.stringify({ streams: [{ stream: { app: 's3' }, values: [[now(), line]] }] });
      await services.sent();
      await send(`${url}/loki/api/v1/push`, { method: 'POST', body });
      expect(await services.sent()).toMatchObject({ objectWrites: 1, tableWrites: 1 });
    });
    await withStore(services, async ({ url }) => {
      const query = encodeURIComponent('{app="s3"}');
      const answer = JSON.parse(await send(`${url}/loki/api/v1/query_range?query=${query}`));
      expect(answer.data.result[0].values.map(([, stored]: string[]) => stored)).toEqual([line]);
    });
  });
});
