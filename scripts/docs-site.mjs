/**
 * `npm run docs`: builds the documentation site into dist/docs; `npm run docs -- --serve` shows it while
 * pages change. The generator is a separate project (scripts/site), because it is larger than everything that
 * the product needs.
 *
 * Pages are copied first: the README becomes the start page, and links to files outside docs/ become plain
 * text.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { ROOT, say } from '../bin/installed.mjs';

const SITE = join(ROOT, 'scripts', 'site');
const PAGES = join(SITE, 'pages');
/** Files outside docs/ that are pages of the site. */
const OUTER_PAGES = { 'README.md': 'index.md', 'CHANGELOG.md': 'changelog.md' };

/** `--test` ends with the count that .ci/run adds up. */
const isTest = process.argv.includes('--test');
const vitepress = join(SITE, 'node_modules', 'vitepress', 'bin', 'vitepress.js');
if (!existsSync(vitepress)) {
  say('installing the packages of scripts/site (npm ci); this happens once');
  run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error'], SITE);
}
copyPages();
run(process.execPath, [vitepress, process.argv.includes('--serve') ? 'dev' : 'build', SITE], ROOT);
if (isTest) process.stdout.write('1 passed, 0 failed\n');

function copyPages() {
  rmSync(PAGES, { recursive: true, force: true });
  for (const name of readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })) {
    const path = posix.join('docs', name.replaceAll('\\', '/'));
    if (path.endsWith('.md')) copyPage(path, path.slice('docs/'.length));
    else if (/\.(jpg|png|json|yaml)$/.test(path)) {
      mkdirSync(dirname(join(PAGES, name)), { recursive: true });
      cpSync(join(ROOT, path), join(PAGES, name));
      // Linked files that are not pages.
      if (/\.(json|yaml)$/.test(path)) cpSync(join(ROOT, path), join(PAGES, 'public', name));
    }
  }
  for (const [path, target] of Object.entries(OUTER_PAGES)) copyPage(path, target);
}

function copyPage(path, target) {
  const file = join(PAGES, target);
  mkdirSync(dirname(file), { recursive: true });
  const text = readFileSync(join(ROOT, path), 'utf8');
  writeFileSync(
    file,
    text.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (whole, ...parts) => link(path, whole, parts)),
  );
}

/** Rewrites a link of the page at `path` for the site. */
function link(path, whole, [image, text, address]) {
  if (/^([a-z]+:|#)/.test(address)) return whole;
  const [file, anchor] = address.split('#');
  const target = posix.normalize(posix.join(posix.dirname(path), file));
  const name = OUTER_PAGES[target] ?? (target.startsWith('docs/') ? target.slice('docs/'.length) : undefined);
  // Folders have no page.
  if (name === undefined || name.endsWith('/') || !/\.\w+$/.test(name)) return text;
  return `${image}[${text}](/${name}${anchor === undefined ? '' : `#${anchor}`})`;
}

function run(command, args, cwd) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: ['ignore', 2, 2] });
  if (error === undefined && status === 0) return;
  say(`${command} ${args[0]} failed (${error?.message ?? `status ${status}`})`);
  if (isTest) process.stdout.write('0 passed, 1 failed\n');
  process.exit(1);
}
