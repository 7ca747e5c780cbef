/** The page of a checkout: built on the first request, and only built files are served. */
import { expect, test } from '@jest/globals';
import { createPageFiles } from '../../local/ui.ts';

test('the index and its files are served, also in gzip, and nothing else of the folder', async () => {
  const warnings: string[] = [];
  const files = createPageFiles({ warn: message => warnings.push(message) });
  const index = Buffer.from((await files.read('index.html'))!.bytes).toString();
  // Links of the page itself begin with a hash sign.
  const loaded = [...index.matchAll(/(?:src|href)="([^"#][^"]*)"/g)].map(([, name]) => name);
  const start = loaded.find(name => /^start-\w{8}\.js$/.test(name));
  const script = Buffer.from((await files.read(start!))!.bytes).toString();
  loaded.push(/main-\w{8}\.js/.exec(script)![0]);
  for (const name of loaded) {
    const file = await files.read(name);
    expect(file?.gzip?.length).toBeLessThan(file?.bytes.length ?? 0);
  }
  for (const name of ['manifest.json', '../../package.json', 'main.js', '']) {
    expect(await files.read(name)).toBeUndefined();
  }
  expect(warnings).toEqual([]);
});
