/** The program's log on a terminal. */
import { expect, test } from '@jest/globals';
import { createLog, visibleLog } from '../../shared/base/runtime/log.ts';

test('a log on a terminal has nothing that it obeys, and is JSON that says the same', () => {
  const lines: string[] = [];
  const log = createLog('info', visibleLog({ write: line => lines.push(line) }));
  const rule = 'a\u001b[2J\u009b31m\u202eb';
  log.info({ rule }, 'a rule failed');
  expect(lines[0]).toMatch(/^[\x20-\x7e]*\n$/);
  expect(JSON.parse(lines[0])).toMatchObject({ rule, msg: 'a rule failed' });
});
