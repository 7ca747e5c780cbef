/**
 * docs/reference/receivers.md, run: each example of curl is sent as curl would, and each "what it sends" of
 * an agent unchanged. A block that this test cannot read fails it, so the page and the test cannot diverge.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { findEntries } from './support/ask.ts';
import type { ClientRequest } from './support/client.ts';
import { startStore, type TestStore } from './support/store.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const PAGE = readFileSync(join(ROOT, 'docs', 'reference', 'receivers.md'), 'utf8');
/** The time of the page's requests, which the store would refuse as old one day. */
const PAGE_TIME = '2026-11-21T12:00:00.000Z';

let store: TestStore;
beforeAll(async () => {
  store = await startStore('auth_enabled: true');
});
afterAll(() => store.stop());

/** Texts of the blocks of a language. */
const blocks = (language: string): string[] =>
  [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n([^]*?)^\`\`\`$`, 'gm'))].map(([, text]) => text);

/** The request of a command of curl in the few options that the page uses; throws at any other. */
function requestOfCurl(command: string): ClientRequest {
  const here = /<<'(\w+)'\n([\s\S]*?)^\1\n$/m.exec(command);
  const words = [...(here ? command.slice(0, here.index) : command).matchAll(/'([^']*)'|(\S+)/g)];
  const [program, ...args] = words.map(([, quoted, plain]) => quoted ?? plain);
  expect(program).toBe('curl');
  // Content type of curl for a body without one.
  const headers: Record<string, string> = { 'content-type': 'application/x-www-form-urlencoded' };
  let body: string | undefined;
  let url: URL | undefined;
  while (args.length > 0) {
    const word = args.shift()!;
    if (word === '-H') {
      const [name, value] = args.shift()!.split(/:\s*/);
      headers[name.toLowerCase()] = value;
    } else if (word === '--data-binary') {
      const given = args.shift()!;
      body = given === '@-' ? here![2] : given;
    } else url = new URL(word);
  }
  return { method: 'POST', path: url!.pathname + url!.search, headers, body };
}

function requestOfBlock(block: string): ClientRequest {
  const end = block.indexOf('\n\n');
  const [[method, path], ...lines] = block
    .slice(0, end)
    .split('\n')
    .map((line, i) => line.split(i === 0 ? ' ' : ': '));
  const headers = Object.fromEntries(lines.map(([name, value]) => [name.toLowerCase(), value]));
  const body = block.slice(end + 2).replaceAll(PAGE_TIME, new Date().toISOString());
  return { method, path, headers, body: headers['content-encoding'] === 'gzip' ? gzipSync(body) : body };
}

const linesOf = async (selector: string): Promise<string[]> =>
  (await findEntries(store.client, { query: selector }, { tenant: 'acme' })).map(({ line }) => line).sort();

test('the curl examples of the page are accepted', async () => {
  const commands = blocks('sh').filter(block => block.startsWith('curl'));
  expect(commands).toHaveLength(2);
  for (const command of commands) {
    const answer = await store.client.send(requestOfCurl(command));
    expect([answer.status, answer.text]).toEqual([
      command.includes('_bulk') ? 200 : 204,
      command.includes('_bulk') ? expect.stringContaining('"errors":false') : '',
    ]);
  }
  expect(await linesOf('{index="web", service_name="shop"} | http_status="200"')).toEqual(['sold']);
  expect(await linesOf('{shop="a"}')).toEqual(['sold']);
});

test('examples of each agent, as the page shows them', async () => {
  const requests = blocks('http').map(requestOfBlock);
  expect(requests).toHaveLength(5);
  for (const request of requests) {
    const answer = await store.client.send(request);
    expect([request.path, answer.status]).toEqual([request.path, request.path.includes('_bulk') ? 200 : 204]);
    if (answer.status === 200) expect(answer.json()).toMatchObject({ errors: false });
  }
  expect(await linesOf('{service_name=~".+"} |= "from "')).toEqual([
    'from Filebeat',
    'from Fluent Bit, es',
    'from Fluent Bit, http',
    'from Vector, elasticsearch',
    'from Vector, http',
  ]);
  expect(await linesOf('{index="web"} |= "from "')).toHaveLength(3);
  expect(await linesOf('{host="h1"} |= "from Vector, http"')).toHaveLength(1);
});

test.each([
  ['rsyslog.conf', 'json-lines-syslog.md'],
  ['syslog-ng-jsonline.conf', 'json-lines-syslog.md'],
])('%s is on %s as it was tested', (file, page) => {
  const tested = readFileSync(join(ROOT, 'scripts', 'clients', file), 'utf8');
  expect(readFileSync(join(ROOT, 'docs', 'send', page), 'utf8')).toContain(tested);
});
