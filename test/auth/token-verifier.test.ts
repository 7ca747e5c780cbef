/** Verification of tokens: refusals, how long results are cached, and the cost of attempts. */
import { beforeEach, describe, expect, test } from '@jest/globals';
import { MS_PER_DAY } from '../../shared/base/model/time-units.ts';
import { seededIds } from '../../shared/base/ports/memory/clock.ts';
import { memoryTable } from '../../shared/base/ports/memory/table.ts';
import type { Table } from '../../shared/base/ports/table.ts';
import { FailedAttempts, MAX_ATTEMPTS } from '../../shared/server/auth/failed-attempts.ts';
import { TICKET_MS, TicketService } from '../../shared/server/auth/ticket-service.ts';
import { TokenService } from '../../shared/server/auth/token-service.ts';
import { newToken } from '../../shared/server/auth/token-text.ts';
import { type Refusal, TokenVerifier, VERIFIED_MS } from '../../shared/server/auth/token-verifier.ts';
import { Tickets } from '../../shared/storage/catalog/tickets.ts';
import { ENDED_KEPT_MS, Tokens } from '../../shared/storage/catalog/tokens.ts';
import { type ManualClock, manualClock } from '../support/manual-clock.ts';

const HERE = '198.51.100.7';
const TOKEN = { name: 'agents', scopes: ['logs:write'], tenants: ['shop'] };
const ids = seededIds(7);
let clock: ManualClock;
let table: Table;
let reads: string[];
let broken: boolean;
let refusals: Refusal[];
let service: TokenService;
let verifier: TokenVerifier;
let tickets: TicketService;

beforeEach(() => {
  clock = manualClock();
  const inner = memoryTable({ clock });
  reads = [];
  refusals = [];
  broken = false;
  table = {
    ...inner,
    get: async key => {
      reads.push(key.sk);
      if (broken) throw new Error('the table is away');
      return inner.get(key);
    },
  };
  const tokens = new Tokens({ table });
  const attempts = new FailedAttempts(clock);
  service = new TokenService({ tokens, clock, ids });
  verifier = new TokenVerifier({ tokens, clock, attempts, onRefused: why => void refusals.push(why) });
  tickets = new TicketService({ tickets: new Tickets({ table, clock }), verifier, attempts, clock, ids });
});

const stranger = () => newToken(ids).text;
const verify = (token: string, address = HERE) => verifier.verify(token, address);

describe('a good token', () => {
  test('is known with its scopes, and is read once per interval for any number of concurrent requests', async () => {
    const { token, record } = await service.create(TOKEN);
    const all = await Promise.all(Array.from({ length: 20 }, () => verify(token)));
    const identity = { tokenId: record.id, name: 'agents', scopes: ['logs:write'], tenants: ['shop'] };
    expect(all).toEqual(all.map(() => identity));
    clock.advance(VERIFIED_MS - 1);
    await verify(token);
    expect(reads).toHaveLength(1);
    clock.advance(1);
    await verify(token);
    expect(reads).toHaveLength(2);
  });

  test('the use of a token is noted once a day', async () => {
    const { token } = await service.create(TOKEN);
    const day = Math.floor(clock.nowMs() / MS_PER_DAY);
    const used = async () => (await service.list())[0].lastUsedDay;
    expect(await used()).toBeUndefined();
    await verify(token);
    expect(await used()).toBe(day);
    clock.advance(MS_PER_DAY);
    await verify(token);
    expect(await used()).toBe(day + 1);
  });

  test('a token that was revoked while its use was noted stays revoked', async () => {
    const { token, record } = await service.create(TOKEN);
    await Promise.all([service.revoke(record.id), verify(token).catch(() => undefined)]);
    clock.advance(VERIFIED_MS);
    await expect(verify(token)).rejects.toMatchObject({ status: 401, message: 'the token has been revoked' });
  });
});

describe('a token that is not good', () => {
  test('unknown tokens, wrong secrets and malformed tokens get the same 401', async () => {
    const { token, record } = await service.create(TOKEN);
    const other = await service.create(TOKEN);
    await expect(verify(stranger())).rejects.toMatchObject({ status: 401, message: 'invalid token' });
    await table.put({
      pk: 'a/tokens',
      sk: other.record.id,
      version: 9,
      body: Buffer.from(JSON.stringify({ ...other.record, hash: record.hash })),
    });
    await expect(verify(other.token)).rejects.toMatchObject({ status: 401, message: 'invalid token' });
    await expect(verify(token.slice(0, -1))).rejects.toMatchObject({ status: 401 });
    expect(refusals).toEqual(['unknown', 'unknown', 'malformed']);
  });

  test('expires to the millisecond, though it is known', async () => {
    const { token } = await service.create({ ...TOKEN, expiresMs: clock.nowMs() + 1000 });
    await verify(token);
    clock.advance(999);
    await verify(token);
    clock.advance(1);
    await expect(verify(token)).rejects.toMatchObject({ status: 401, message: 'the token has expired' });
    clock.advance(VERIFIED_MS);
    await expect(verify(token)).rejects.toMatchObject({ message: 'the token has expired' });
  });

  test('a revoked one stops within the time that it is believed', async () => {
    const { token, record } = await service.create(TOKEN);
    await verify(token);
    await service.revoke(record.id);
    clock.advance(VERIFIED_MS - 1);
    await verify(token);
    clock.advance(1);
    await expect(verify(token)).rejects.toMatchObject({ message: 'the token has been revoked' });
    await expect(verifier.checkStillGood(record.id)).rejects.toMatchObject({ status: 401 });
  });

  test('every token is refused while the table fails, and these refusals are not cached', async () => {
    const { token } = await service.create(TOKEN);
    broken = true;
    await expect(verify(token)).rejects.toThrow('the table is away');
    broken = false;
    await verify(token);
  });
});

describe('attempts', () => {
  test('limits attempts of one address, even concurrent ones, but not those of other addresses and known tokens', async () => {
    const { token } = await service.create(TOKEN);
    await verify(token);
    const tried = Array.from({ length: MAX_ATTEMPTS + 20 }, () =>
      verify(stranger()).catch(error => error.status),
    );
    const statuses = await Promise.all(tried);
    expect(statuses.filter(status => status === 401)).toHaveLength(MAX_ATTEMPTS);
    expect(statuses.filter(status => status === 429)).toHaveLength(20);
    expect(reads).toHaveLength(1 + MAX_ATTEMPTS);
    clock.advance(VERIFIED_MS * 0.01);
    await expect(verify(stranger(), '203.0.113.9')).rejects.toMatchObject({ status: 401 });
    await verify(token);
  });

  test('a known token is read again without using an attempt', async () => {
    const { token } = await service.create(TOKEN);
    await verify(token);
    clock.advance(VERIFIED_MS);
    for (let i = 0; i < MAX_ATTEMPTS; i++) await verify(stranger()).catch(() => undefined);
    await expect(verify(stranger())).rejects.toMatchObject({ status: 429 });
    await verify(token);
  });

  test('come back with time, and an address of IPv6 counts by its network', async () => {
    for (let i = 0; i < MAX_ATTEMPTS; i++)
      await verify(stranger(), `2001:db8::${i.toString(16)}`).catch(() => 0);
    await expect(verify(stranger(), '2001:db8:0:0:ffff::1')).rejects.toMatchObject({ status: 429 });
    await expect(verify(stranger(), '2001:db8:0:1::1')).rejects.toMatchObject({ status: 401 });
    clock.advance(1000);
    await expect(verify(stranger(), '2001:db8::1')).rejects.toMatchObject({ status: 401 });
    await expect(verify(stranger(), '2001:db8::1')).rejects.toMatchObject({ status: 429 });
  });

  test('a repeated wrong token causes no read and uses no attempt', async () => {
    const wrong = stranger();
    for (let i = 0; i < 3 * MAX_ATTEMPTS; i++) {
      await expect(verify(wrong)).rejects.toMatchObject({ status: 401 });
    }
    expect(reads).toHaveLength(1);
  });
});

describe('tickets', () => {
  const give = async () => {
    const { token, record } = await service.create({ ...TOKEN, scopes: ['logs:read'] });
    const identity = await verify(token);
    return { record, ...(await tickets.give(identity, ['shop'])) };
  };
  const refused = { status: 401, message: 'invalid ticket: already used, or older than 1 minute' };

  test('are valid for one tail, once, even if several arrive at the same time', async () => {
    const { ticket, record } = await give();
    const taken = await Promise.allSettled(Array.from({ length: 5 }, () => tickets.redeem(ticket, HERE)));
    const [good] = taken.filter(({ status }) => status === 'fulfilled');
    expect(taken.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(good).toMatchObject({
      value: { tokenId: record.id, scopes: ['logs:read'], tenants: ['shop'] },
    });
    await expect(tickets.redeem(ticket, HERE)).rejects.toMatchObject(refused);
  });

  test('end after a minute, and with their token', async () => {
    const late = await give();
    clock.advance(TICKET_MS);
    await expect(tickets.redeem(late.ticket, HERE)).rejects.toMatchObject(refused);
    const { ticket, record } = await give();
    await service.revoke(record.id);
    await expect(tickets.redeem(ticket, HERE)).rejects.toMatchObject({
      message: 'the token has been revoked',
    });
  });

  test.each(['', 'x', 'A'.repeat(64), `${'0'.repeat(64)}`])('%.10p is invalid', async ticket => {
    await expect(tickets.redeem(ticket, HERE)).rejects.toMatchObject(refused);
  });

  test('guesses of one address end', async () => {
    for (let i = 0; i < MAX_ATTEMPTS; i++)
      await tickets.redeem(ids.randomHex(32), HERE).catch(() => undefined);
    await expect(tickets.redeem(ids.randomHex(32), HERE)).rejects.toMatchObject({ status: 429 });
  });
});

describe('tokens are made', () => {
  const BAD: readonly [string, object, string][] = [
    ['no name', { name: '' }, 'the name of a token must have 1 to 100 characters and no control characters'],
    ['a long name', { name: 'x'.repeat(101) }, 'the name of a token must have 1 to 100'],
    ['a name with a line end', { name: 'a\nb' }, 'the name of a token must have 1 to 100'],
    ['no scope', { scopes: [] }, 'a token needs a scope; scopes are logs:read, '],
    ['a strange scope', { scopes: ['logs:read', 'root'] }, 'unknown scope "root"; scopes are '],
    ['no tenant', { tenants: [] }, "a token needs a tenant, or '*' for all"],
    ['all and another', { tenants: ['*', 'a'] }, "'*' includes all tenants"],
    ['an empty tenant', { tenants: [''] }, 'a tenant name must not be empty'],
    ['a path as tenant', { tenants: ['../b'] }, "tenant ID '../b' contains unsupported character '/'"],
    ['several in one', { tenants: ['a|b'] }, "tenant ID 'a|b' contains unsupported character '|'"],
    ['many tenants', { tenants: Array.from({ length: 33 }, (_, i) => `t${i}`) }, 'too many tenants: 33'],
    ['the past', { expiresMs: 5 }, 'expiry must be a Unix time in ms in the future'],
    ['no whole time', { expiresMs: 1e15 + 0.5 }, 'expiry must be a Unix time in ms in the future'],
  ];
  test.each(BAD)('refuses a token with %s', async (_, wrong, message) => {
    await expect(service.create({ ...TOKEN, ...wrong })).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(message),
    });
    expect(await service.list()).toEqual([]);
  });

  test('the table contains no secret, and expired tokens are listed for a while', async () => {
    const { token, record } = await service.create({
      ...TOKEN,
      scopes: ['rules:read', 'logs:read', 'logs:read'],
    });
    expect(record.scopes).toEqual(['logs:read', 'rules:read']);
    const { items } = await table.query('a/tokens');
    expect(Buffer.from(items[0].body).toString()).not.toContain(token.slice(17));
    await service.revoke(record.id);
    expect((await service.revoke(record.id)).revokedMs).toBe(clock.nowMs());
    clock.advance(ENDED_KEPT_MS - 1000);
    expect(await service.list()).toHaveLength(1);
    clock.advance(2000);
    expect(await service.list()).toEqual([]);
  });

  test.each(['', 'x', '../../x', 'AAAAAAAAAAA'])('revoking the unknown token %p fails', async id => {
    await expect(service.revoke(id)).rejects.toMatchObject({ status: 404 });
  });
});
