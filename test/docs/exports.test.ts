/** Everything that a module exports is imported by another file: the program, a script, a benchmark or a test. */
import { expect, test } from '@jest/globals';
import { unusedExports } from './exports.ts';
import { sources } from './sources.ts';

/** Kernels are called through WebAssembly, and declarations describe other files. */
const PRODUCT = /^(bin|functions|lib|local|shared|ui)\/(?!.*(\/assembly\/|\.d\.[cm]ts$))/;
/** Entry points: functions of the stack, the library, and the part of the page that its build calls. */
const ENTRY = /^(functions\/[\w-]+\.ts: handler|local\/embed\.ts: .*|ui\/src\/app\/shell\.ts: shellHtml)$/;

test('no export is unused', () => {
  const unused = unusedExports(sources(), path => PRODUCT.test(path));
  expect(unused.filter(one => !ENTRY.test(one))).toEqual([]);
});

test('an unused export is found, and a used one is not', () => {
  const files = [
    ['a/x.ts', 'export const A = 1;\nexport function b() {}\nexport interface C {}\nexport { d as e, f };\n'],
    ['a/y.ts', 'export class Y {}\n'],
    ['a/z.ts', 'export class Z {}\n'],
    ['c.ts', "import { A, type C as D } from './a/x.ts';\nimport {\n  f,\n} from './a/x.ts';\n"],
    ['d.ts', "const y = await import('./a/y.ts');\nexport * from './a/z.ts';\n"],
  ] as const;
  expect(unusedExports(files, path => path.startsWith('a/'))).toEqual(['a/x.ts: b', 'a/x.ts: e']);
});
