/** The program's log on a terminal. */
import { expect, test } from '@jest/globals';
import { createLazyLog, createLog, linesOf, visibleLog } from '../../shared/base/runtime/log.ts';

test('a log on a terminal has no control sequences, and is equivalent JSON', () => {
  const lines: string[] = [];
  const log = createLog('info', visibleLog({ write: line => lines.push(line) }));
  const rule = 'a\u001b[2J\u009b31m\u202eb';
  log.info({ rule }, 'a rule failed');
  expect(lines[0]).toMatch(/^[\x20-\x7e]*\n$/);
  expect(JSON.parse(lines[0])).toMatchObject({ rule, msg: 'a rule failed' });
});

test('a lazy log has the level that was set before its first line, and counts its lines', () => {
  const lines: string[] = [];
  const log = createLazyLog('info', { write: line => lines.push(line) });
  expect(log.level).toBe('info');
  log.level = 'error';
  expect(linesOf(log).size).toBe(0);
  log.warn('not written');
  log.error({ tenant: 'a' }, 'written');
  log.child({ part: 'tails' }).error('by a child');
  log.level = 'warn';
  log.warn('written now');
  expect(lines.map(line => JSON.parse(line).msg)).toEqual(['written', 'by a child', 'written now']);
  expect(JSON.parse(lines[1])).toMatchObject({ level: 'error', part: 'tails' });
  expect(log.level).toBe('warn');
  expect([...linesOf(log)]).toEqual([
    ['error', 2],
    ['warn', 1],
  ]);
});
