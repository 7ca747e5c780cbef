/** Requests of the page, and the headers of its files. */
import { describe, expect, test } from '@jest/globals';
import { answerPage, PAGE_POLICY, type PageFiles } from '../../shared/server/http/ui.ts';

const bytes = Buffer.from('script');
const gzip = Buffer.from('zipped');
const files: PageFiles = {
  read: async name => {
    if (name === 'index.html') return { bytes: Buffer.from('<html>') };
    return name === 'main-ABC.js' || name === 'manifest.json' ? { bytes, gzip } : undefined;
  },
};

function ask(method: string, target: string, headers: Record<string, string> = {}) {
  const [path, rawQuery = ''] = target.split('?');
  return answerPage({ method, path, rawQuery, headers }, files);
}

describe('the root', () => {
  test.each([
    ['GET', 'text/html,application/xhtml+xml,*/*;q=0.8', true],
    ['HEAD', 'text/html', true],
    ['GET', '*/*', false],
    ['GET', 'application/json', false],
    ['POST', 'text/html', false],
  ])('%s with %s redirects to the page: %s', async (method, accept, toPage) => {
    const answer = await ask(method, '/', { accept });
    expect(answer?.headers.location).toBe(toPage ? './ui/' : undefined);
  });
  test('belongs to the API without Accept', async () => expect(await ask('GET', '/')).toBeUndefined());
});

test.each(['/ready', '/uix', '/svc/api/v1/query', '/UI/'])('%s belongs to the API', async path => {
  expect(await ask('GET', path, { accept: 'text/html' })).toBeUndefined();
});

test('the page without a trailing slash redirects to the slash', async () => {
  expect(await ask('GET', '/ui?a=b')).toMatchObject({ status: 302, headers: { location: './ui/?a=b' } });
});

test.each(['/ui/', '/ui/index.html'])('%s is revalidated each time, with the security policy', async path => {
  const answer = await ask('GET', path);
  expect(answer).toMatchObject({
    status: 200,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'content-security-policy': PAGE_POLICY,
    },
  });
});

test('hashed files are cached forever, in gzip if accepted', async () => {
  const zipped = await ask('GET', '/ui/main-ABC.js', { 'accept-encoding': 'gzip, br' });
  expect(zipped).toMatchObject({
    status: 200,
    headers: { 'content-encoding': 'gzip', vary: 'Accept-Encoding' },
    body: gzip,
  });
  expect(zipped?.headers['cache-control']).toMatch(/immutable/);
  const plain = await ask('GET', '/ui/main-ABC.js');
  expect(plain?.headers['content-encoding']).toBeUndefined();
  expect(plain?.body).toBe(bytes);
});

test.each(['/ui/manifest.json', '/ui/other-XYZ.js', '/ui/../package.json', '/ui/a/b.js', '/ui/%2e%2e/x.js'])(
  '%s is not a file of the page',
  async path => expect(await ask('GET', path)).toMatchObject({ status: 404 }),
);

test('the policy allows nothing from elsewhere and nothing inline', () => {
  expect(PAGE_POLICY).toContain("default-src 'self'");
  expect(PAGE_POLICY).not.toMatch(/unsafe|https?:|\*/);
});
