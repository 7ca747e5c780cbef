/**
 * `node bin/with-runtime.mjs scripts/build-kernels.mjs`: compiles shared/base/kernels/assembly into
 * shared/base/kernels/compiled.ts.
 *
 *     --check            compile, write nothing, and fail if compiled.ts is out of date
 *     --instrument FILE  write a module to FILE that reports every load and store to its host (guard tests)
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const FOLDER = fileURLToPath(new URL('../shared/base/kernels', import.meta.url));
const SOURCES = join(FOLDER, 'assembly');
const COMPILED = join(FOLDER, 'compiled.ts');
/** Decorators of functions are not valid TypeScript, so the sources have them as comments, one per line. */
const DECORATOR = /^\/\/ (@inline|@external\(.*\))$/gm;
const OPTIONS = ['-O3', '--enable', 'simd', '--runtime', 'stub', '--importMemory', '--noExportMemory'];

const [command, file] = process.argv.slice(2);
if (command === '--instrument') {
  writeFileSync(file, await compile('--runPasses', 'instrument-memory'));
} else {
  const text = moduleText(await compile());
  if (command !== '--check') writeFileSync(COMPILED, text);
  else if (readFileSync(COMPILED, 'utf8') !== text) {
    process.stderr.write(
      'shared/base/kernels/compiled.ts is not what its sources compile to: run scripts/build-kernels.mjs\n',
    );
    process.exitCode = 1;
  }
}

/** Bytes of the module. Exits if the sources do not compile. */
async function compile(...more) {
  let bytes;
  const { error } = await asc.main(['index.ts', ...OPTIONS, ...more, '--outFile', 'kernels.wasm'], {
    stdout: process.stderr,
    stderr: process.stderr,
    readFile: name => readSource(name),
    writeFile: (_, contents) => {
      bytes = contents;
    },
    listFiles: () => [],
  });
  if (error !== null) throw error;
  return bytes;
}

/** Returns null for a missing file, as the compiler requires. */
function readSource(name) {
  try {
    return readFileSync(join(SOURCES, name), 'utf8').replace(DECORATOR, '$1');
  } catch {
    return null;
  }
}

function moduleText(bytes) {
  return [
    '/** WebAssembly module in Base64, compiled from assembly/ by scripts/build-kernels.mjs. A test compares it with its source. */',
    `export const COMPILED =\n  '${Buffer.from(bytes).toString('base64')}';\n`,
  ].join('\n');
}
