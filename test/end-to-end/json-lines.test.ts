/** JSON lines, and the result of a query. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findEntries } from './support/ask.ts';
import { startStore, type TestStore } from './support/store.ts';

let store: TestStore;
beforeAll(async () => {
  store = await startStore('auth_enabled: true');
});
afterAll(() => store.stop());

const send = (path: string, body: string, tenant = 't') =>
  store.client.send({ method: 'POST', path, headers: { 'x-scope-orgid': tenant }, body });

test.each(['/insert/jsonline', '/svc/api/v1/push/jsonline', '/loki/api/v1/push/jsonline'])(
  '%s',
  async path => {
    const tenant = path.replaceAll('/', '-');
    const now = new Date().toISOString();
    const body = `{"date":"${now}","stream":"s1","log":{"level":"error","message":"oh no"}}\n{"date":"0","stream":"s1","log":{"message":"fine"}}`;
    const answer = await send(
      `${path}?_stream_fields=stream&_time_field=date&_msg_field=log.message`,
      body,
      tenant,
    );
    expect([answer.status, answer.text]).toEqual([204, '']);
    const found = await findEntries(store.client, { query: '{stream="s1"} |= "oh no"' }, { tenant });
    expect(found.map(({ line, labels }) => [line, labels.level, labels.detected_level])).toEqual([
      ['oh no', 'error', 'error'],
    ]);
  },
);

test('reports invalid lines, and stores the valid ones', async () => {
  const body = 'x\n{"_time":"2001-01-01","message":"old"}\n{"message":"new"}';
  const answer = await send('/insert/jsonline?extra_fields=app=a&_stream_fields=app', body);
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(
    'line 1 is not a JSON object; entry for stream \'{app="a", service_name="a"}\' has timestamp too old',
  );
  expect(
    (await findEntries(store.client, { query: '{app="a"}' }, { tenant: 't' })).map(({ line }) => line),
  ).toEqual(['new']);
  expect((await send('/insert/jsonline', '\n')).status).toBe(204);
  expect((await send('/insert/jsonline', '{}', '')).status).toBe(401);
});
