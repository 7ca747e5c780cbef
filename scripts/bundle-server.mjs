/**
 * The program as a bundle: one module for each entry, others for what they share and for what is loaded on first use. It starts in a
 * third of the time that 800 modules take, in each thread, and asks for no package.
 *
 * Names stay as they are, for stack traces. All files lie in one folder, because a thread's file is found beside the module that
 * starts it.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** What is run or imported by its name. */
export const ENTRIES = {
  logboom: 'bin/logboom.ts',
  embed: 'local/embed.ts',
  'role-thread': 'local/threads/role-thread.ts',
  'table-thread': 'local/threads/table-thread.ts',
};

/** Packages in CommonJS ask for Node's own modules by `require`, which an ES module does not have. */
const REQUIRE = [
  "import { createRequire as createRequireOfBundle } from 'node:module';",
  'const require = createRequireOfBundle(import.meta.url);',
].join('\n');

export const COMMON_OPTIONS = {
  absWorkingDir: ROOT,
  bundle: true,
  platform: 'node',
  // The oldest that runs it (bin/runtime.mjs).
  target: 'node22.15',
  // Packages that come as ES modules too lose what is not used.
  mainFields: ['module', 'main'],
  // Compiled helpers that the WebSocket library would take from other packages if it found them.
  define: { 'process.env.WS_NO_BUFFER_UTIL': '"1"', 'process.env.WS_NO_UTF_8_VALIDATE': '"1"' },
  metafile: true,
  write: false,
  logLevel: 'warning',
};

/** Writes the bundle into a folder. Resolves to the paths of the files that it was made of. */
export async function bundleServer(outdir) {
  const { metafile, outputFiles } = await build({
    ...COMMON_OPTIONS,
    entryPoints: ENTRIES,
    outdir,
    splitting: true,
    format: 'esm',
    banner: { js: REQUIRE },
    legalComments: 'none',
  });
  // Its process would stay, and with it 300 MB.
  await stop();
  writeChecked(outputFiles, metafile);
  return Object.keys(metafile.inputs);
}

/** The licences of the packages whose files are among `inputs`, one after the other. */
export function licencesOf(inputs) {
  const folders = new Set(
    inputs.map(path => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean),
  );
  return [...folders]
    .sort()
    .map(folder => {
      const place = join(ROOT, folder);
      const { name, version, license } = JSON.parse(readFileSync(join(place, 'package.json'), 'utf8'));
      const files = readdirSync(place).filter(file => /^(licen[cs]e|notice|copying)/i.test(file));
      const texts = files.map(file => readFileSync(join(place, file), 'utf8').trim());
      return [`${name} ${version} (${license})`, ...texts].join('\n\n');
    })
    .join(`\n\n${'-'.repeat(80)}\n\n`);
}

/**
 * Throws where the bundle asks for a package, or where two errors of one name met: one would be renamed, and errors are known by their
 * names (threads/thrown-errors.ts).
 */
export function writeChecked(outputFiles, { outputs }) {
  for (const [output, { imports }] of Object.entries(outputs))
    for (const { path, external } of imports)
      if (external && !path.startsWith('node:') && !isBuiltin(path))
        throw new Error(`${output} asks for ${path}, which it does not hold`);
  for (const { path, text, contents } of outputFiles) {
    const renamed = /\bvar (\w*Error)\d+ = class \w* ?extends ClientError\b/.exec(text)?.[1];
    if (renamed !== undefined) throw new Error(`${path}: there are two classes ${renamed}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
}
