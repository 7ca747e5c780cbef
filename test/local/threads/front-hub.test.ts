/** Responses of the front thread to the other threads. */
import { expect, test } from '@jest/globals';
import { FrontHub, type HubParts } from '../../../local/threads/front-hub.ts';
import type { RoleAsk, RoleTell } from '../../../local/threads/role-messages.ts';
import { thrownOf } from '../../../local/threads/thrown-errors.ts';
import { CorruptionError } from '../../../shared/base/model/errors.ts';
import { virtualClock } from '../../../shared/base/ports/memory/clock.ts';
import { memoryConnections } from '../../../shared/base/ports/memory/connections.ts';
import { memoryTable } from '../../../shared/base/ports/memory/table.ts';
import type { Write } from '../../../shared/base/ports/table.ts';

const forever = new AbortController().signal;

function makeHub(more: Partial<HubParts> = {}) {
  const clock = virtualClock(1_000);
  const told: unknown[] = [];
  const level = (name: string) => (fields: object, message: string) => told.push([name, fields, message]);
  const connections = memoryConnections({ clock });
  const parts = {
    table: memoryTable({ clock }),
    decisions: {
      decide: async (tenant: string) => ({ tenant }),
      refusal: (tenant: string) => ({ refused: tenant }),
    },
    connections,
    log: { info: level('info'), warn: level('warn'), error: level('error'), debug: level('debug') },
    onDefect: () => told.push('defect'),
    pass: (what: RoleTell) => told.push(['passed', what.kind]),
    task: async (affinity: number, task: Uint8Array) => new Uint8Array([affinity, ...task]),
    merge: async (task: Uint8Array) => new Uint8Array([...task, 1]),
    ...more,
  } as unknown as HubParts;
  const hub = new FrontHub(parts);
  return {
    hub,
    told,
    connections,
    table: parts.table,
    ask: async (asked: RoleAsk) => (await hub.reply(asked, forever)).value,
  };
}

const put = (sk: string): Write => ({
  kind: 'put',
  item: { pk: 'p', sk, version: 0, body: Buffer.from(sk) },
});

test('commits, then reports it to subscribers, then responds', async () => {
  const order: string[] = [];
  const { ask, table } = makeHub({
    onCommitted: async writes => {
      const { items } = await table.query('p');
      order.push(`${writes.length} of ${items.length}`);
    },
  });
  await ask({ kind: 'write', writes: [put('a'), put('b')] });
  expect(order).toEqual(['2 of 2']);
});

test('a commit that the listener fails is not answered as made', async () => {
  const { ask } = makeHub({ onCommitted: () => Promise.reject(new CorruptionError('x: y')) });
  await expect(ask({ kind: 'write', writes: [put('a')] })).rejects.toThrow(CorruptionError);
});

test('folds, decides rates, runs tasks, and posts to sockets', async () => {
  const { ask, connections } = makeHub();
  const open = connections.open('c');
  expect(await ask({ kind: 'fold' })).toBe(false);
  expect(await ask({ kind: 'rates', tenant: 't', asked: {} as never })).toEqual({ tenant: 't' });
  expect(await ask({ kind: 'refusal', tenant: 't' })).toEqual({ refused: 't' });
  expect(await ask({ kind: 'task', affinity: 5, task: Uint8Array.of(1) })).toEqual(Uint8Array.of(5, 1));
  expect(await ask({ kind: 'merge', task: Uint8Array.of(2) })).toEqual(Uint8Array.of(2, 1));
  expect(await ask({ kind: 'post', connectionId: 'c', message: Buffer.from('hello') })).toBe('ok');
  expect(await ask({ kind: 'post', connectionId: 'd', message: Buffer.from('hello') })).toBe('gone');
  expect(open.messages).toEqual(['hello']);
  expect(await ask({ kind: 'connection', connectionId: 'c' })).toMatchObject({ connectedMs: 1_000 });
  await ask({ kind: 'close', connectionId: 'c', options: { code: 1000, reason: 'end' } });
  expect(open.closed).toEqual({ code: 1000, reason: 'end' });
});

test('lines of the log keep their level, fields and error; all else is passed on', () => {
  const { hub, told } = makeHub();
  const line = { kind: 'log', level: 'warn', fields: { tenant: 'a' }, message: 'text' } as const;
  hub.hear({ ...line, error: undefined } satisfies RoleTell);
  hub.hear({ ...line, error: thrownOf(new CorruptionError('chunk: broken')) } satisfies RoleTell);
  hub.hear({ kind: 'defect' } satisfies RoleTell);
  hub.hear({ kind: 'kick', job: 'x' } satisfies RoleTell);
  expect(told).toEqual([
    ['warn', { tenant: 'a' }, 'text'],
    ['warn', { tenant: 'a', err: expect.any(CorruptionError) }, 'text'],
    'defect',
    ['passed', 'kick'],
  ]);
});
