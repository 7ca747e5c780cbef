/**
 * The program as a few files without packages (ENTRIES), each of which holds all that it needs: a process or a thread loads one of them,
 * which takes a third of what 800 modules take. In CommonJS, because that loads without a round through Node's loader for each import,
 * which reads every property of Node's own modules too, and because a single executable can hold no other.
 *
 * What is loaded on first use (commands, the clients of AWS) is there as functions that run then. Names stay as they are, for stack
 * traces. All files lie in one folder, because a thread's file is found beside the module that starts it.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, stop } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/** Commands that open a store, read its configuration, its rules or LogQL. The others talk to a running one, and are small. */
const STORE_COMMANDS = [
  'config',
  'cost',
  'doctor',
  'export',
  'fmt',
  'inspect',
  'migrate',
  'rules',
  'stdin-query',
  'tenant',
  'token',
];

/** File and source of each. What several hold is there several times: nothing of one is passed to another but plain values. */
const ENTRIES = {
  logboom: "import './bin/logboom.ts';",
  server: "export * from './bin/commands/start.ts'; export { startLogboom } from './local/embed.ts';",
  'store-commands': `module.exports = {
    ${STORE_COMMANDS.map(name => `get '${name}'() { return require('./bin/commands/${name}.ts'); },`).join('\n')}
  };`,
  mcp: "export * from './bin/cli/mcp/serve.ts';",
  'role-thread': "import './local/threads/role-thread.ts';",
  'front-thread': "import './local/threads/front-thread.ts';",
  'table-thread': "import './local/threads/table-thread.ts';",
};

/** Packages in files of their own, because most stores never load them. */
const AWS = /^@aws-sdk\/(client-[\w-]+)$/;

/** For those who import the package; its types are of local/embed.ts. */
const EMBED = `import { createRequire } from 'node:module';
export const { startLogboom } = createRequire(import.meta.url)('./server.cjs');
`;

const FILE_URL = "const fileUrlOfBundle = require('node:url').pathToFileURL(__filename).href;";

/** A command is in the file of its kind, whoever asks for it. */
const commandsApart = {
  name: 'commands-apart',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\.\/commands\/[\w-]+\.ts$/ }, ({ path, kind }) => {
      const name = /([\w-]+)\.ts$/.exec(path)[1];
      if (kind !== 'dynamic-import' || (name !== 'start' && !STORE_COMMANDS.includes(name))) return undefined;
      return { path: name, namespace: 'command' };
    });
    // With the SDK of the protocol, 0.5 MB that no other command loads.
    onResolve({ filter: /^\.\.\/cli\/mcp\/serve\.ts$/ }, () => ({ path: './mcp.cjs', external: true }));
    onResolve({ filter: /^\.\/[\w-]+\.cjs$/, namespace: 'command' }, ({ path }) => ({
      path,
      external: true,
    }));
    onLoad({ filter: /./, namespace: 'command' }, ({ path: name }) => ({
      contents:
        name === 'start'
          ? "module.exports = require('./server.cjs');"
          : `module.exports = require('./store-commands.cjs')['${name}'];`,
    }));
  },
};

/** @param found takes the packages */
const awsApart = found => ({
  name: 'aws-apart',
  setup({ onResolve }) {
    onResolve({ filter: AWS }, ({ path }) => {
      found.add(path);
      return { path: `./${AWS.exec(path)[1]}.cjs`, external: true };
    });
  },
});

/** Writes the bundle into a folder. Resolves to the paths of the files that it was made of. */
export async function bundleServer(outdir) {
  const inputs = new Set();
  const clients = new Set();
  const bundle = async (name, contents, plugins) => {
    const file = join(outdir, `${name}.cjs`);
    for (const input of await bundleFile(file, contents, plugins)) inputs.add(input);
  };
  const plugins = [commandsApart, awsApart(clients)];
  for (const [name, contents] of Object.entries(ENTRIES)) await bundle(name, contents, plugins);
  for (const client of clients) await bundle(AWS.exec(client)[1], `export * from '${client}';`, []);
  // Its process would stay, and with it 300 MB.
  await stop();
  writeFileSync(join(outdir, 'embed.mjs'), EMBED);
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
    // The oldest that runs it (bin/needed-node.mjs).
    target: 'node22',
    // Packages that come as ES modules too lose what is not used.
    mainFields: ['module', 'main'],
    // Constants are put where they are used; without it they would be variables.
    minifySyntax: true,
    // Each thread holds the text.
    minifyWhitespace: true,
    define: {
      'import.meta.url': 'fileUrlOfBundle',
      // Compiled helpers that the WebSocket library would take from other packages if it found them.
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
function writeChecked(outputFiles, { outputs }) {
  for (const [output, { imports }] of Object.entries(outputs))
    for (const { path, external } of imports)
      if (external && !path.startsWith('./') && !path.startsWith('node:') && !isBuiltin(path))
        throw new Error(`${output} asks for ${path}, which it does not hold`);
  for (const { path, text, contents } of outputFiles) {
    const renamed = /\b(\w*Error)\d+ = class \w* ?extends ClientError\b/.exec(text)?.[1];
    if (renamed !== undefined) throw new Error(`${path}: there are two classes ${renamed}`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
}
