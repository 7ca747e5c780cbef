import { expect, test } from '@jest/globals';
import type { RoleTell } from '../../../local/threads/role-messages.ts';
import { createThreadLog } from '../../../local/threads/thread-log.ts';
import { CorruptionError } from '../../../shared/base/model/errors.ts';

test('lines are sent with their level, fields and error; debug lines only if they are enabled', () => {
  const told: RoleTell[] = [];
  const log = createThreadLog(line => void told.push(structuredClone(line)));
  log.info('plain');
  log.warn({ tenant: 'a' }, 'with fields');
  log.error({ job: 'x', err: new CorruptionError('chunk y: broken') }, 'with an error');
  log.debug('not wanted');
  log.isDebug = true;
  log.debug({ n: 1 }, 'wanted');
  expect(told).toMatchObject([
    { kind: 'log', level: 'info', fields: {}, error: undefined, message: 'plain' },
    { level: 'warn', fields: { tenant: 'a' }, message: 'with fields' },
    {
      level: 'error',
      fields: { job: 'x' },
      error: { name: 'CorruptionError', message: 'chunk y: broken' },
      message: 'with an error',
    },
    { level: 'debug', fields: { n: 1 }, message: 'wanted' },
  ]);
  const wanted: RoleTell[] = [];
  createThreadLog(line => void wanted.push(line), true).debug('from the start');
  expect(wanted).toHaveLength(1);
});

test('fields that cannot be sent to another thread are sent as text', () => {
  const told: RoleTell[] = [];
  const log = createThreadLog(line => void told.push(structuredClone(line)));
  log.warn({ run: () => 1, at: new URL('http://x/'), deep: { symbol: Symbol('s') } }, 'odd');
  expect(told).toMatchObject([
    { level: 'warn', fields: { fields: expect.stringContaining('Symbol(s)') }, message: 'odd' },
  ]);
});
