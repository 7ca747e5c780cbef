/**
 * Runs the marked code blocks of one page, in their order, as a reader would: in one folder, against one
 * store. The page may write `http://localhost:3100`, `npx logboom` and `npm start --`; they are replaced by
 * this store and this program.
 */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { CACHE, PROGRAM } from '../support/program.ts';
import type { CodeBlock } from './code-blocks.ts';
import { missingLine } from './expected-output.ts';
import { ROOT } from './pages.ts';

/** Address of the store on the pages: over HTTP and as a WebSocket. */
const PAGE_URL = /\b(http|ws):\/\/(?:localhost|127\.0\.0\.1):3100\b/g;
/** The commands of a page by their names there. */
const PRELUDE = `
logboom() { "$NODE" --disable-warning=ExperimentalWarning "$PROGRAM" "$@"; }
npx() { shift; logboom "$@"; }
node() { "$NODE" "$@"; }
`;

interface Store {
  readonly process: ChildProcess;
  readonly url: string;
}

export class PageSession {
  readonly #folder = mkdtempSync(join(tmpdir(), 'logboom-docs-'));
  #store: Store | undefined;
  #follower: ChildProcess | undefined;
  #output = '';

  constructor() {
    // Programs on a page find the packages that a reader would install.
    symlinkSync(join(ROOT, 'node_modules'), join(this.#folder, 'node_modules'));
  }

  /** @throws Error that names the block if a command fails or prints something else */
  async run(block: CodeBlock): Promise<void> {
    const [mark = '', ...others] = block.marks;
    if (mark.startsWith('file=')) await this.#write(mark.slice('file='.length), block.text);
    else if (mark === 'store') await this.#restart(block.text);
    else if (mark === 'follow') await this.#follow(block);
    else if (mark === 'output') await this.#compare(block);
    else if (mark === 'run' && others.every(isSatisfied)) {
      if (others.includes('stopped')) await this.#stop();
      else if (this.#store === undefined) await this.#start([]);
      await this.#bash(block);
    }
  }

  async close(): Promise<void> {
    await this.#endFollower();
    await this.#stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #write(name: string, text: string): Promise<void> {
    const path = join(this.#folder, name);
    mkdirSync(dirname(path), { recursive: true });
    if (text.search(PAGE_URL) !== -1 && this.#store === undefined) await this.#start([]);
    writeFileSync(path, this.#addressed(text));
  }

  /** The text with the address of the running store. */
  #addressed(text: string): string {
    const host = this.#store?.url.slice('http'.length);
    return host === undefined ? text : text.replace(PAGE_URL, `$1${host}`);
  }

  async #restart(command: string): Promise<void> {
    await this.#stop();
    const words = command.trim().split(/\s+/);
    const first = words.findIndex(word => word.startsWith('-'));
    await this.#start(first === -1 ? [] : words.slice(first).filter(word => word !== '--'));
  }

  async #start(options: readonly string[]): Promise<Store> {
    const args = ['start', ...options, '--port', '0'];
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, ...args], {
      cwd: this.#folder,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: CACHE,
        LOGBOOM_HOST: '127.0.0.1',
        LOGBOOM_LOG_LEVEL: 'error',
      },
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', piece => (said += piece));
    let url: string | undefined;
    while (url === undefined) {
      if (child.exitCode !== null) throw new Error(`the store did not start: ${said}`);
      await Promise.race([once(child.stdout, 'data'), once(child, 'close')]);
      url = /Logboom listens on (http:\S+)/.exec(said)?.[1];
    }
    this.#store = { process: child, url };
    this.#output = said.replaceAll(url, 'http://127.0.0.1:3100');
    return this.#store;
  }

  async #stop(): Promise<void> {
    const child = this.#store?.process;
    this.#store = undefined;
    await end(child, 'SIGTERM');
  }

  #spawn(command: string): ChildProcessByStdio<null, Readable, Readable> {
    return spawn('bash', ['-euo', 'pipefail', '-c', PRELUDE + this.#addressed(command)], {
      cwd: this.#folder,
      env: {
        PATH: process.env.PATH,
        HOME: this.#folder,
        NODE: process.execPath,
        NODE_COMPILE_CACHE: CACHE,
        PROGRAM,
        ...(this.#store && { LOGBOOM_ADDR: this.#store.url }),
        LOGBOOM_CONTEXTS_FILE: join(this.#folder, 'contexts.json'),
        TZ: 'UTC',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  async #bash(block: CodeBlock): Promise<void> {
    const child = this.#spawn(block.text);
    let said = '';
    let complained = '';
    child.stdout.on('data', piece => (said += piece));
    child.stderr.on('data', piece => (complained += piece));
    const [code] = await once(child, 'close');
    // Some commands print hints on standard error that a page shows, too.
    this.#output = said + complained;
    if (code !== 0) throw new Error(`line ${block.line}: exit code ${code}\n${block.text}${this.#output}`);
  }

  async #follow(block: CodeBlock): Promise<void> {
    await this.#endFollower();
    if (this.#store === undefined) await this.#start([]);
    this.#output = '';
    // bash replaces itself with the command, which then gets the signal.
    const command = block.text
      .replace(/^npx logboom /, 'exec "$NODE" "$PROGRAM" ')
      .replace(/^node /, 'exec "$NODE" ');
    const child = this.#spawn(command);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', piece => (this.#output += piece));
    this.#follower = child;
  }

  /** @throws Error if the command ended by itself */
  async #endFollower(): Promise<void> {
    const follower = this.#follower;
    this.#follower = undefined;
    if (typeof follower?.exitCode === 'number')
      throw new Error(`exit code ${follower.exitCode}: ${this.#output}`);
    await end(follower, 'SIGTERM');
  }

  /** Waits for the lines if the command still runs, and ends it. */
  async #compare(block: CodeBlock): Promise<void> {
    const follower = this.#follower;
    while (follower?.exitCode === null && missingLine(block.text, this.#output) !== undefined) {
      await Promise.race([
        once(follower.stdout!, 'data'),
        once(follower.stderr!, 'data'),
        once(follower, 'close'),
      ]);
    }
    await this.#endFollower();
    const missing = missingLine(block.text, this.#output);
    if (missing !== undefined) {
      throw new Error(`line ${block.line}: not in the output: ${missing}\n--- output\n${this.#output}`);
    }
  }
}

/** Whether this machine has the program that a block needs. */
function isSatisfied(mark: string): boolean {
  if (!mark.startsWith('needs=')) return true;
  const folders = (process.env.PATH ?? '').split(delimiter);
  return folders.some(folder => existsSync(join(folder, mark.slice('needs='.length))));
}

async function end(child: ChildProcess | undefined, signal: NodeJS.Signals): Promise<void> {
  if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill(signal);
  await closed;
}
