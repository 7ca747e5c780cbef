import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = resolve(import.meta.dirname, '../..');
const FOLDERS = ['bench', 'bin', 'functions', 'lib', 'local', 'scripts', 'shared', 'test', 'ui/src'];
/** AssemblyScript has no `#private`, and installed packages are not ours. */
const OTHERS = /(^|\/)(node_modules|dist)\/|^shared\/base\/kernels\/assembly\//;

/** Every TypeScript file of the project with its text, by path from its root. */
function* sources(): Iterable<readonly [path: string, text: string]> {
  for (const folder of FOLDERS)
    for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })) {
      const path = join(folder, name);
      if (/\.tsx?$/.test(path) && !OTHERS.test(path)) yield [path, readFileSync(join(ROOT, path), 'utf8')];
    }
}

/** `path:line` of each match. */
function matches(pattern: RegExp): string[] {
  return [...sources()].flatMap(([path, text]) =>
    text.split('\n').flatMap((line, i) => (pattern.test(line) ? [`${path}:${i + 1}`] : [])),
  );
}

test('members are private with #, except constructors, which cannot be', () => {
  expect(matches(/^\s*(static )?private (?!constructor\()/)).toEqual([]);
});

test('no object inherits from an instance: it would lack the private fields', () => {
  const found = matches(/Object\.create\((?!null\))/);
  expect(found.filter(place => !place.startsWith('test/'))).toEqual([]);
});

test('only the guard reads the tenant header', () => {
  const filesWith = (pattern: RegExp) =>
    [...new Set(matches(pattern).map(place => place.split(':')[0]))].filter(
      path => !path.startsWith('test/'),
    );
  expect(filesWith(/headers\[TENANT_HEADER\]/)).toEqual(['shared/server/http/guard.ts']);
  expect(filesWith(/tenants\.(join|split)\('\|'\)/)).toEqual([]);
});

const isProduct = (place: string) => !/^(bench|scripts|test)\//.test(place);

test('units of time have one definition', () => {
  const found = matches(/\b(3_600_000|86_400_000)(_000_000n?)?\b|\b60_000_000_000n?\b/).filter(isProduct);
  expect(found.filter(place => !/^shared\/base\/model\/(time-units|duration)\.ts:/.test(place))).toEqual([]);
});

test('bounds of 64-bit integers have one definition', () => {
  const found = matches(/\b2n \*\* 63n/).filter(isProduct);
  expect([...new Set(found.map(place => place.split(':')[0]))]).toEqual(['shared/base/model/int64.ts']);
});

test('there is one binary search', () => {
  const files = new Set(matches(/\(\w+ \+ \w+( \+ 1)?\) >>>? 1/).map(place => place.split(':')[0]));
  expect([...files].filter(isProduct).sort()).toEqual([
    'shared/base/model/binary-search.ts',
    // This halves a range of rows, and searches nothing.
    'shared/storage/chunk/page-writer.ts',
  ]);
});

test('constants of modules are in upper case', () => {
  const constants =
    /^(export )?const [a-z]\w*(: [^=]+)? = (-?\d|'|\/(?!\*)|\[|new (Set|Map|WeakMap|RegExp)\(|Object\.freeze)/;
  expect(matches(constants).filter(isProduct)).toEqual([]);
});
