/** The log names the identity that creates or revokes a token, and contains no secret. */
import { expect, test } from '@jest/globals';
import { DEFAULT_CONFIG } from '../../shared/server/admin/config-fields.ts';
import { startWorld } from '../isolation/world.ts';

test('log lines contain the actor, the token and the address, never the secret', async () => {
  const world = startWorld({ access: { ...DEFAULT_CONFIG.access, tokensEnabled: true } });
  const { token: root, record } = await world.context.access.tokens.create({
    name: 'root',
    scopes: ['admin'],
    tenants: ['*'],
  });
  const headers = { authorization: `Bearer ${root}`, 'content-type': 'application/json' };
  const clientAddress = '192.0.2.7';
  const body = Buffer.from('{"name":"agents","scopes":["logs:write"],"tenants":["shop"]}');
  const made = await world.send('POST', '/svc/api/v1/tokens', { headers, body, clientAddress });
  const { token, id } = JSON.parse(made.text).data as { token: string; id: string };
  const gone = await world.send('DELETE', `/svc/api/v1/tokens/${id}`, { headers, clientAddress });
  expect([made.status, gone.status]).toEqual([200, 200]);
  // A refused request changes nothing, and writes no line.
  await world.send('POST', '/svc/api/v1/tokens', { headers, body: Buffer.from('{}') });
  await world.send('DELETE', '/svc/api/v1/tokens/none', { headers });
  const fields = [
    `token: {"id":"${id}","name":"agents","scopes":["logs:write"],"tenants":["shop"],"expires":null}`,
    `by: {"id":"${record.id}","name":"root"}`,
    'address: "192.0.2.7"',
  ].join(' ');
  expect(world.logged).toEqual([`token created ${fields}`, `token revoked ${fields}`]);
  for (const secret of [token, root, record.hash])
    expect(world.logged.join()).not.toContain(secret.slice(20));
});
