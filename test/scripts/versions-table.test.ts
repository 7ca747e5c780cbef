/** The table of tested clients after a run: rows of this run, of earlier runs, and rows that are removed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import {
  type ClientOutcome,
  type TestedClient,
  withVersions,
} from '../../scripts/clients/versions-table.mjs';

const [WINSTON, SYSLOG, SYSLOG_BULK, LOGCLI]: TestedClient[] = [
  { name: 'winston-loki', protocol: 'Loki push, JSON', selector: '{app="winston"}' },
  { name: 'syslog-ng', protocol: 'JSON lines', selector: '{program="jsonline"}' },
  { name: 'syslog-ng', protocol: 'Elasticsearch bulk', selector: '{index="syslog-ng"}' },
  { name: 'logcli', protocol: 'queries' },
];
const CLIENTS = [WINSTON, SYSLOG, SYSLOG_BULK, LOGCLI];
const HEAD = '<!-- versions: begin -->\n| client | protocol | version | result |\n|---|---|---|---|\n';
const pageOf = (...rows: string[]) =>
  `# Page\n\n${HEAD}${rows.map(row => `${row}\n`).join('')}<!-- versions: end -->\n\nText.\n`;
const passed = (client: TestedClient, version: string, detail = ''): ClientOutcome => ({
  client,
  result: 'passed',
  version,
  detail,
});
const without = (result: 'failed' | 'skipped', client: TestedClient): ClientOutcome => ({
  client,
  result,
  version: '',
  detail: 'reason',
});
const updated = (page: string, ...outcomes: ClientOutcome[]) =>
  withVersions(page, { clients: CLIENTS, outcomes, lineCount: 1000 });

const WINSTON_ROW = '| winston-loki | Loki push, JSON | 6.1.7 | 1,000 lines compared, during a kill |';
const SYSLOG_ROW = '| syslog-ng | JSON lines | 3.38 | 1,000 lines compared |';
const BULK_ROW = '| syslog-ng | Elasticsearch bulk | 3.38 | 1,000 lines compared |';
const LOGCLI_ROW = '| logcli | queries | v3 | labels |';

describe('the table of tested clients', () => {
  test('has a row for each client and protocol that passed, in the order of the clients', () => {
    const outcomes = [
      passed(LOGCLI, 'v3', 'labels'),
      passed(SYSLOG_BULK, '3.38'),
      passed(SYSLOG, '3.38'),
      passed(WINSTON, '6.1.7', 'during a kill'),
    ];
    expect(updated(pageOf(), ...outcomes)).toBe(pageOf(WINSTON_ROW, SYSLOG_ROW, BULK_ROW, LOGCLI_ROW));
  });

  test('replaces the version of an earlier run', () => {
    const older = WINSTON_ROW.replace('6.1.7', '6.1.6');
    expect(updated(pageOf(older), passed(WINSTON, '6.1.7', 'during a kill'))).toBe(pageOf(WINSTON_ROW));
  });

  test('keeps the row of a client that is skipped or not part of the run', () => {
    const page = pageOf(WINSTON_ROW, LOGCLI_ROW);
    expect(updated(page, without('skipped', LOGCLI))).toBe(page);
  });

  test('removes the row of a client that fails, of this protocol only', () => {
    expect(updated(pageOf(SYSLOG_ROW, BULK_ROW), without('failed', SYSLOG))).toBe(pageOf(BULK_ROW));
  });

  test('removes the row of a client that no longer exists', () => {
    expect(updated(pageOf('| gone | OTLP | 1 | |', LOGCLI_ROW))).toBe(pageOf(LOGCLI_ROW));
  });

  test('needs a page with the two comments', () => {
    expect(() => updated('# Page\n')).toThrow('the page has no <!-- versions: begin -->');
  });

  test('the page of tested clients has a place for it', () => {
    const page = readFileSync(join(import.meta.dirname, '../../docs/send/tested-clients.md'), 'utf8');
    expect(updated(page, passed(WINSTON, '9.9.9'))).toContain('| winston-loki | Loki push, JSON | 9.9.9 |');
  });
});
