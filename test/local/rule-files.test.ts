/** The folder of a local `ruler.storage`. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ruleFilesReader } from '../../local/rule-files.ts';

const folder = mkdtempSync(join(tmpdir(), 'logboom-rule-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

function write(path: string, text: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), text);
}

beforeAll(() => {
  write('rules/acme/web.yaml', 'w');
  write('rules/acme/shop', 'é');
  write('rules/acme/.hidden.yaml', 'h');
  write('rules/acme/folder/below.yaml', 'b');
  write('rules/..data/shop', 'd');
  write('rules/no-tenant.yaml', 'n');
  write('rules/other/large', 'x'.repeat(300_000));
  write('elsewhere/linked', 'l');
  symlinkSync('../../elsewhere/linked', join(folder, 'rules/acme/linked'));
  symlinkSync('../../elsewhere/gone', join(folder, 'rules/acme/dangling'));
});

const read = (directory: string) => ruleFilesReader({ type: 'local', directory: join(folder, directory) })!();

test('files of tenants: no hidden ones, no folders, none that are gone; links are followed', async () => {
  const files = await read('rules');
  expect(files.map(({ tenant, file, text }) => [tenant, file, text.slice(0, 9)])).toEqual([
    ['acme', 'linked', 'l'],
    ['acme', 'shop', 'é'],
    ['acme', 'web.yaml', 'w'],
    ['other', 'large', 'xxxxxxxxx'],
  ]);
  // One byte over the limit is enough to be refused; the file may have gigabytes.
  expect(files[3].text).toHaveLength(262_145);
});

test('a folder that is not there is empty', async () => {
  expect(await read('nowhere')).toEqual([]);
});

test('rules in the store have no files', () => {
  expect(ruleFilesReader({ type: 'store', directory: folder })).toBeUndefined();
});
