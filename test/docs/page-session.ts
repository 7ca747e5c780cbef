/**
 * Runs the marked code blocks of one page, in their order, as a reader would: in one folder, against one store. The page
 * may write `http://localhost:3100`, `npx logboom` and `npm start --`; they stand for this store and this program.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { CACHE, PROGRAM } from '../support/program.ts';
import type { CodeBlock } from './code-blocks.ts';
import { missingLine } from './expected-output.ts';

const PAGE_URL = /http:\/\/(?:localhost|127\.0\.0\.1):3100\b/g;
/** The commands of a page by their names there. */
const PRELUDE = `
logboom() { "$NODE" --disable-warning=ExperimentalWarning "$PROGRAM" "$@"; }
npx() { shift; logboom "$@"; }
`;

interface Store {
  readonly process: ChildProcess;
  readonly url: string;
}

export class PageSession {
  readonly #folder = mkdtempSync(join(tmpdir(), 'logboom-docs-'));
  #store: Store | undefined;
  #output = '';

  /** @throws Error that names the block if a command fails or prints something else */
  async run(block: CodeBlock): Promise<void> {
    const [mark = ''] = block.marks;
    if (mark.startsWith('file=')) this.#write(mark.slice('file='.length), block.text);
    else if (mark === 'store') await this.#restart(block.text);
    else if (mark === 'run') await this.#bash(block);
    else if (mark === 'output') this.#compare(block);
  }

  async close(): Promise<void> {
    await this.#stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #write(name: string, text: string): void {
    const path = join(this.#folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }

  async #restart(command: string): Promise<void> {
    await this.#stop();
    const words = command.trim().split(/\s+/);
    await this.#start(
      words.slice(words.findIndex(word => word.startsWith('-'))).filter(word => word !== '--'),
    );
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
    return this.#store;
  }

  async #stop(): Promise<void> {
    const child = this.#store?.process;
    this.#store = undefined;
    if (child === undefined || child.exitCode !== null) return;
    const closed = once(child, 'close');
    child.kill('SIGTERM');
    await closed;
  }

  async #bash(block: CodeBlock): Promise<void> {
    const { url } = this.#store ?? (await this.#start([]));
    const script = PRELUDE + block.text.replace(PAGE_URL, url);
    const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
      cwd: this.#folder,
      env: {
        PATH: process.env.PATH,
        NODE: process.execPath,
        NODE_COMPILE_CACHE: CACHE,
        PROGRAM,
        LOGBOOM_ADDR: url,
        LOGBOOM_CONTEXTS_FILE: join(this.#folder, 'contexts.json'),
        TZ: 'UTC',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    let complained = '';
    child.stdout.on('data', piece => (said += piece));
    child.stderr.on('data', piece => (complained += piece));
    const [code] = await once(child, 'close');
    // Some commands print hints on standard error that a page shows, too.
    this.#output = said + complained;
    if (code !== 0) throw new Error(`line ${block.line}: exit code ${code}\n${block.text}${this.#output}`);
  }

  #compare(block: CodeBlock): void {
    const missing = missingLine(block.text, this.#output);
    if (missing !== undefined) {
      throw new Error(`line ${block.line}: not in the output: ${missing}\n--- output\n${this.#output}`);
    }
  }
}
