/**
 * Builds the explorer page: `ui/` into `dist/ui/`, unless the existing build has the same sources.
 *
 *     node scripts/build-ui.mjs            builds if something changed
 *     node scripts/build-ui.mjs --force    always builds, and lists the files
 *
 * Every file except index.html and manifest.json has a content hash in its name, so that it can be cached
 * forever. The manifest lists all files with sizes, and servers serve only these. The build fails if the
 * first load exceeds FIRST_LOAD_MAX_BYTES.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, extname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { mergeFirstLoad } from './merge-first-load.mjs';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCES = join(ROOT, 'ui');
const OUTPUT = join(ROOT, 'dist', 'ui');
/** Maximum size of the first load. The editor and the charts load later, when they are first needed. */
const FIRST_LOAD_MAX_BYTES = 150 * 1024;
const ENTRY = 'ui/src/main.tsx';
/** Runs before the first paint, and then starts the entry. */
const START = 'ui/src/start.ts';
/** Also in local/ui-sources.ts, which decides if a build is needed. */
const OTHER_SOURCES = ['scripts/build-ui.mjs', 'scripts/merge-first-load.mjs', 'package-lock.json'];

const force = process.argv.includes('--force');
const built = readManifest();
if (force || built?.sourceHash !== hashOfSources(built?.inputs)) await build();

async function build() {
  const { build: bundle } = await import('esbuild');
  const { outputFiles, metafile } = await bundle({
    absWorkingDir: ROOT,
    entryPoints: [{ in: ENTRY, out: 'main' }],
    outdir: OUTPUT,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    entryNames: '[name]-[hash]',
    chunkNames: '[name]-[hash]',
    assetNames: '[name]-[hash]',
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  const split = firstLoad(metafile);
  const outputs = new Map(Object.entries(metafile.outputs).map(([path, output]) => [basename(path), output]));
  const { files, merged } = await mergeFirstLoad({
    bundle,
    files: new Map(outputFiles.map(({ path, contents }) => [basename(path), contents])),
    exportsOf: name => outputs.get(name).exports,
    first: split.scripts,
  });
  const start = await startScript(bundle, merged);
  files.set(start.name, start.contents);
  const first = { script: merged, start: start.name, styles: split.styles };
  const icon = readFileSync(join(SOURCES, 'icon.svg'));
  const iconName = `icon-${shortHash(icon)}.svg`;
  files.set(iconName, icon);
  const html = pageOf(first, iconName, await shell(bundle));
  files.set('index.html', Buffer.from(html));

  const sizes = [...files].map(([name, bytes]) => ({
    name,
    bytes: bytes.length,
    gzipBytes: gzipSync(bytes, { level: 9 }).length,
  }));
  sizes.sort((a, b) => (a.name < b.name ? -1 : 1));
  const loadedFirst = new Set([first.script, first.start, ...first.styles, 'index.html']);
  const firstLoadGzipBytes = sizes
    .filter(({ name }) => loadedFirst.has(name))
    .reduce((sum, { gzipBytes }) => sum + gzipBytes, 0);
  if (force || firstLoadGzipBytes > FIRST_LOAD_MAX_BYTES) {
    for (const { name, bytes, gzipBytes } of sizes) {
      say(`${loadedFirst.has(name) ? 'first' : 'later'}  ${bytes} bytes, ${gzipBytes} in gzip  ${name}`);
    }
  }
  if (firstLoadGzipBytes > FIRST_LOAD_MAX_BYTES) {
    say(`the first load is ${firstLoadGzipBytes} bytes in gzip, more than ${FIRST_LOAD_MAX_BYTES}`);
    process.exit(1);
  }

  mkdirSync(OUTPUT, { recursive: true });
  const entries = [...files].filter(([name]) => name !== 'index.html');
  for (const [name, bytes] of entries) writeWhole(name, bytes);
  // Written before the manifest, whose readers must find every file.
  writeWhole('index.html', files.get('index.html'));
  // The page's modules of the store are known only after a build.
  const inputs = Object.keys(metafile.inputs).filter(path => path.startsWith('shared/'));
  const manifest = { sourceHash: hashOfSources(inputs), inputs, firstLoadGzipBytes, files: sizes };
  writeWhole('manifest.json', `${JSON.stringify(manifest, undefined, 2)}\n`);
  for (const name of readdirSync(OUTPUT)) {
    if (!files.has(name) && name !== 'manifest.json') rmSync(join(OUTPUT, name), { force: true });
  }
  say(`the page is built: ${firstLoadGzipBytes} bytes in gzip for the first load`);
}

/** Entry, its static imports, and its style sheet. */
function firstLoad({ outputs }) {
  const byName = new Map(Object.entries(outputs).map(([path, output]) => [basename(path), output]));
  const entry = [...byName].find(([name, { entryPoint }]) => entryPoint === ENTRY && extname(name) === '.js');
  const scripts = [];
  const visit = name => {
    if (scripts.includes(name)) return;
    scripts.push(name);
    for (const { path, kind } of byName.get(name).imports) {
      if (kind === 'import-statement') visit(basename(path));
    }
  };
  visit(entry[0]);
  const { cssBundle } = entry[1];
  return { scripts, styles: cssBundle === undefined ? [] : [basename(cssBundle)] };
}

/** Frame of the page before its scripts run. */
async function shell(bundle) {
  const { outputFiles } = await bundle({
    absWorkingDir: ROOT,
    entryPoints: ['ui/src/app/shell.ts'],
    bundle: true,
    format: 'esm',
    write: false,
    logLevel: 'warning',
  });
  const { shellHtml } = await import(
    `data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`
  );
  return shellHtml();
}

/** Small script before the first paint, in a separate file, because it must not wait for the others. */
async function startScript(bundle, main) {
  const { outputFiles } = await bundle({
    absWorkingDir: ROOT,
    entryPoints: [{ in: START, out: 'start' }],
    define: { MAIN_SCRIPT: JSON.stringify(`./${main}`) },
    external: ['./main-*.js'],
    outdir: OUTPUT,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'es2022',
    minify: true,
    entryNames: '[name]-[hash]',
    legalComments: 'none',
    write: false,
    logLevel: 'warning',
  });
  return { name: basename(outputFiles[0].path), contents: outputFiles[0].contents };
}

function pageOf({ start, styles }, iconName, frame) {
  const head = [
    ...styles.map(name => `<link rel="stylesheet" href="${name}" />`),
    `<script type="module" blocking="render" src="${start}"></script>`,
  ];
  return readFileSync(join(SOURCES, 'index.html'), 'utf8')
    .replace('%ICON%', iconName)
    .replace('%SHELL%', frame)
    .replace('%HEAD%', head.join('\n    '));
}

/**
 * Hash of all inputs of the page: its sources, modules of the store, this script, and the packages of the
 * lock file.
 */
function hashOfSources(inputs = []) {
  const hash = createHash('sha256');
  const files = readdirSync(SOURCES, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => join(entry.parentPath, entry.name));
  files.push(...OTHER_SOURCES.map(path => join(ROOT, path)));
  files.push(...inputs.map(path => join(ROOT, path)).filter(path => existsSync(path)));
  for (const file of files.sort()) hash.update(relative(ROOT, file)).update('\0').update(readFileSync(file));
  return hash.digest('hex');
}

function readManifest() {
  try {
    return JSON.parse(readFileSync(join(OUTPUT, 'manifest.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Writes atomically, because two builds may run at once. */
function writeWhole(name, content) {
  const path = join(OUTPUT, name);
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, content);
  renameSync(partial, path);
}

function shortHash(bytes) {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 8).toUpperCase();
}

function say(line) {
  process.stderr.write(`build-ui: ${line}\n`);
}
