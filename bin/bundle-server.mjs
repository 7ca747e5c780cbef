/**
 * Bundles the program into a few files without packages (ENTRIES), each self-contained: a process or thread
 * loads one of them, in a third of the time of 800 modules. The files are CommonJS. That avoids Node's loader
 * for each import, which reads every property of Node's own modules, and a single executable supports no
 * other format.
 *
 * Parts loaded on first use (commands, AWS clients) are functions that run then. Names are kept for stack
 * traces. All files are in one folder, because a thread's file is next to the module that starts it.
 */
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * Commands that open a store, or read its configuration, rules or LogQL. The others talk to a running store,
 * and are small.
 */
const STORE_COMMANDS = ['config', 'cost', 'doctor', 'fmt', 'inspect', 'migrate', 'tenant', 'token'];

/** Commands in separate files. `export` talks to a store, too, and includes the formats of files. */
const OWN_FILES = { start: 'server', export: 'export' };

/** Source of each file. Shared modules are duplicated: files exchange only plain values. */
const ENTRIES = {
  logboom: "import './bin/logboom.ts';",
  server: "export * from './bin/commands/start.ts'; export { startLogboom } from './local/embed.ts';",
  'store-commands': `module.exports = {
    ${STORE_COMMANDS.map(name => `get '${name}'() { return require('./bin/commands/${name}.ts'); },`).join('\n')}
  };`,
  export: "export * from './bin/commands/export.ts';",
  'stdin-query': "export * from './bin/commands/stdin-query.ts';",
  'local-queries': `export * from './bin/cli/stdin-metric.ts';
    export * from './bin/cli/rule-tests/over-history.ts';
    export * from './bin/cli/rule-tests/unit-tests.ts';`,
  rules: "export * from './bin/cli/rule-changes.ts';",
  mcp: "export * from './bin/cli/mcp/serve.ts';",
  view: "export * from './bin/cli/view/run-view.ts';",
  'role-thread': "import './local/threads/role-thread.ts';",
  'front-thread': "import './local/threads/front-thread.ts';",
  'table-thread': "import './local/threads/table-thread.ts';",
};

/** Packages in separate files, because most stores never load them. */
const AWS = /^@aws-sdk\/(client-[\w-]+)$/;

/** Entry for users of the package; its types are those of local/embed.ts. */
const EMBED = `import { createRequire } from 'node:module';
export const { startLogboom } = createRequire(import.meta.url)('./server.cjs');
`;

const LOADER = 'bin/load-bundle.cjs';

/** File that loads the compiled code next to it. */
function stubOf(code) {
  const checksum = createHash('sha256').update(code).digest('hex').slice(0, 16);
  return `require('./${basename(LOADER)}').loadBeside(module, require, '${checksum}');\n`;
}

const FILE_URL = "const fileUrlOfBundle = require('node:url').pathToFileURL(__filename).href;";

const LOCAL_QUERIES = /^\.\.\/cli\/(?:stdin-metric|rule-tests\/(?:over-history|unit-tests))\.ts$/;

/** Puts each command into the file of its kind, whatever imports it. */
const commandsApart = {
  name: 'commands-apart',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\.\/commands\/[\w-]+\.ts$/ }, ({ path, kind }) => {
      const name = /([\w-]+)\.ts$/.exec(path)[1];
      if (kind !== 'dynamic-import' || !(name in OWN_FILES || STORE_COMMANDS.includes(name)))
        return undefined;
      return { path: name, namespace: 'command' };
    });
    // Includes the protocol's SDK, 0.5 MB that no other command loads.
    onResolve({ filter: /^\.\.\/cli\/mcp\/serve\.ts$/ }, () => ({ path: './mcp.cjs', external: true }));
    // Parses rule files, which other commands and tools do not.
    onResolve({ filter: /^\.\.\/(?:cli\/)?rule-changes\.ts$/ }, () => ({
      path: './rules.cjs',
      external: true,
    }));
    // Includes the pipelines of log queries.
    onResolve({ filter: /^\.\.\/commands\/stdin-query\.ts$/ }, () => ({
      path: './stdin-query.cjs',
      external: true,
    }));
    // Include the query engine, with a store in memory.
    onResolve({ filter: LOCAL_QUERIES }, () => ({ path: './local-queries.cjs', external: true }));
    // Includes the terminal library.
    onResolve({ filter: /^\.\.\/cli\/view\/run-view\.ts$/ }, () => ({ path: './view.cjs', external: true }));
    onResolve({ filter: /^\.\/[\w-]+\.cjs$/, namespace: 'command' }, ({ path }) => ({
      path,
      external: true,
    }));
    onLoad({ filter: /./, namespace: 'command' }, ({ path: name }) => ({
      contents:
        name in OWN_FILES
          ? `module.exports = require('./${OWN_FILES[name]}.cjs');`
          : `module.exports = require('./store-commands.cjs')['${name}'];`,
    }));
  },
};

/** @param found collects the packages */
const awsApart = found => ({
  name: 'aws-apart',
  setup({ onResolve }) {
    onResolve({ filter: AWS }, ({ path }) => {
      found.add(path);
      return { path: `./${AWS.exec(path)[1]}.cjs`, external: true };
    });
  },
});

/**
 * The core of terminal-kit. Its main module loads the rest by name at run time, which a bundle cannot resolve.
 * The rest draws widgets and images, which `view` does not use.
 */
const TERMINAL_KIT = `const kit = module.exports = { globalConfig: {} };
Object.assign(kit, require('./misc.js'), require('./detectTerminal.js'), { tty: require('./tty.js') });
kit.Terminal = require('./Terminal.js');
kit.Palette = require('./Palette.js');
kit.chroma = require('chroma-js');
kit.createTerminal = kit.Terminal.create;
if (process.platform === 'win32') require('./windows.js')(kit);
`;

const terminalKitCore = {
  name: 'terminal-kit-core',
  setup({ onLoad }) {
    onLoad({ filter: /terminal-kit[\\/]lib[\\/]termkit\.js$/ }, () => ({ contents: TERMINAL_KIT }));
    onLoad({ filter: /terminal-kit[\\/]lib[\\/]termconfig[\\/]README$/ }, () => ({ contents: '' }));
    // Names of emoji.
    onLoad({ filter: /string-kit[\\/]lib[\\/]emoji\.js$/ }, () => ({ contents: '' }));
  },
};

/** Writes the bundle into a folder. Resolves to the paths of its source files. */
export async function bundleServer(outdir) {
  const inputs = new Set();
  const clients = new Set();
  const bundle = async (name, contents, plugins) => {
    const file = join(outdir, `${name}.js`);
    for (const input of await bundleFile(file, contents, plugins)) inputs.add(input);
    writeFileSync(join(outdir, `${name}.cjs`), stubOf(readFileSync(file)));
  };
  const plugins = [commandsApart, terminalKitCore, awsApart(clients)];
  for (const [name, contents] of Object.entries(ENTRIES)) await bundle(name, contents, plugins);
  for (const client of clients) await bundle(AWS.exec(client)[1], `export * from '${client}';`, []);
  // The esbuild process would stay, with 300 MB.
  await stop();
  writeFileSync(join(outdir, 'embed.mjs'), EMBED);
  copyFileSync(join(ROOT, LOADER), join(outdir, basename(LOADER)));
  inputs.add(LOADER);
  return [...inputs].filter(path => !/^\w+:|^[\w-]+\.js$/.test(path));
}

async function bundleFile(outfile, contents, plugins) {
  const { metafile, outputFiles } = await build({
    absWorkingDir: ROOT,
    stdin: { contents, resolveDir: ROOT, loader: 'js', sourcefile: 'entry.js' },
    outfile,
    bundle: true,
    format: 'cjs',
    platform: 'node',
    // The oldest that runs commands that talk to a store (bin/needed-node.cjs).
    target: 'node20',
    // The loaders of the bundle cannot import, so `import()` becomes `require()`.
    supported: { 'dynamic-import': false },
    // Packages that also ship ES modules can be tree-shaken.
    mainFields: ['module', 'main'],
    // Inlines constants, which would be variables otherwise.
    minifySyntax: true,
    // Each thread holds the text in memory.
    minifyWhitespace: true,
    define: {
      'import.meta.url': 'fileUrlOfBundle',
      // Prevents the WebSocket library from loading native helpers of other packages.
      'process.env.WS_NO_BUFFER_UTIL': '"1"',
      'process.env.WS_NO_UTF_8_VALIDATE': '"1"',
    },
    banner: { js: FILE_URL },
    plugins,
    legalComments: 'none',
    metafile: true,
    write: false,
    logLevel: 'warning',
  });
  writeChecked(outputFiles, metafile);
  return Object.keys(metafile.inputs);
}

/** Licenses of the packages whose files are in `inputs`. */
export function licensesOf(inputs) {
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
 * Throws if the bundle imports a package or has an `import()`, or if two errors have the same name: one would
 * be renamed, and errors are identified by name (threads/thrown-errors.ts).
 */
function writeChecked(outputFiles, { outputs }) {
  for (const [output, { imports }] of Object.entries(outputs))
    for (const { path, external } of imports)
      if (external && !path.startsWith('./') && !path.startsWith('node:') && !isBuiltin(path))
        throw new Error(`${output} imports ${path}, which it does not contain`);
  for (const { path, text, contents } of outputFiles) {
    const renamed = /\b(\w*Error)\d+ = class \w* ?extends ClientError\b/.exec(text)?.[1];
    // Bytes are then the same as characters, and the text needs no decoding.
    if (contents.length !== text.length) throw new Error(`${path}: there are characters that are not ASCII`);
    if (/\bimport\("/.test(text)) throw new Error(`${path}: its loaders cannot import`);
    if (renamed !== undefined) throw new Error(`${path}: there are two classes ${renamed}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
}
