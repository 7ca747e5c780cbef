/** Pages name files of the repository: where to start, what to copy, which test covers what. Those files exist. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { missingFiles } from './named-files.ts';
import { allPages, pathOf, ROOT } from './pages.ts';

/** Records of decisions: they name files as they were. */
const HISTORY = /^dev\/(decisions\/|benchmarks-history)/;
/** Files of the reader, of a build, and of other projects. */
const OTHERS = new Set(['alloy.yaml']);

const texts = [
  ...allPages()
    .filter(page => !HISTORY.test(page))
    .map(page => [`docs/${page}`, readFileSync(pathOf(page), 'utf8')] as const),
  ...['README.md', 'CONTRIBUTING.md', 'shared/README.md', 'shared/base/kernels/README.md'].map(
    name => [name, readFileSync(join(ROOT, name), 'utf8')] as const,
  ),
];

test.each(texts)('%s names files that exist', (_name, text) => {
  expect(missingFiles(text).filter(name => !OTHERS.has(name))).toEqual([]);
});

test('a missing path and a missing name are found', () => {
  const page =
    'See `shared/none/a.ts`, `no-such-file.ts`, `log-query.ts` of `read/query`, `assembly/NAME.ts` and `a/b`.';
  expect(missingFiles(page)).toEqual(['shared/none/a.ts', 'no-such-file.ts']);
});

test('tests that the security review names exist', () => {
  const [, inputs] = readFileSync(pathOf('dev/security-review.md'), 'utf8').split(
    /^## (?:Inputs|Dependencies)$/m,
  );
  const names = [...inputs.matchAll(/`([a-z-]+\/[a-z/-]+)`/g)].map(([, name]) => name);
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter(name => !existsSync(join(ROOT, 'test', `${name}.test.ts`)))).toEqual([]);
});

test('shared/README.md shows the modules in the order that imports follow', () => {
  const { forbidden } = createRequire(import.meta.url)('../../.dependency-cruiser.cjs');
  const { to } = forbidden.find(({ name }: { name: string }) => name === 'every-module-has-a-place');
  const modules = /\(aws\|(.*)\)/.exec(to.pathNot)![1].split('|');
  const [, picture] = readFileSync(join(ROOT, 'shared/README.md'), 'utf8').split('```');
  const shown = picture
    .trim()
    .split('\n')
    .filter(line => !line.startsWith('aws '))
    .flatMap(line => {
      const [layer, ...rest] = line.split(/ +(?:─ )?/);
      return rest.map(module => `${layer}/${module}`);
    });
  expect(shown).toEqual(modules);
});
