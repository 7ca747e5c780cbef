/** A terminal in tmux for tests of commands that people type into. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

/** Debian: `apt install tmux`. */
export const hasTmux = spawnSync('tmux', ['-V']).status === 0;
/** At least four minutes, because a loaded machine starts processes slowly. */
const MAX_LOOKS = 2_400;

export class Terminal {
  readonly #folder = mkdtempSync(join(tmpdir(), 'logboom-tmux-'));

  #tmux(...args: readonly string[]): string {
    const socket = join(this.#folder, 'socket');
    return execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], { encoding: 'utf8' });
  }

  /** @param command default: a shell that reads no settings of the user, which may take a minute */
  start(columns: number, rows: number, command = 'sh', env: Readonly<Record<string, string>> = {}): void {
    const variables = Object.entries(env).flatMap(([name, value]) => ['-e', `${name}=${value}`]);
    const size = ['-x', `${columns}`, '-y', `${rows}`];
    this.#tmux('new-session', '-d', ...size, ...variables, command);
  }

  /** Keys by name, such as `Enter`. */
  keys(...names: readonly string[]): void {
    this.#tmux('send-keys', ...names);
  }

  type(text: string): void {
    this.#tmux('send-keys', '-l', text);
  }

  /** Bytes as they would come from the keyboard, whether or not they are text. */
  bytes(...bytes: readonly number[]): void {
    this.#tmux('send-keys', '-H', ...bytes.map(byte => byte.toString(16)));
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-x', `${columns}`, '-y', `${rows}`);
  }

  screen(): string {
    return this.#tmux('capture-pane', '-p');
  }

  /** The screen as soon as it holds the text. */
  async screenWith(text: string): Promise<string> {
    let screen = '';
    for (let look = 0; look < MAX_LOOKS; look++) {
      screen = this.screen();
      if (screen.includes(text)) return screen;
      await delay(100);
    }
    throw new Error(`the screen has no ${JSON.stringify(text)}:\n${screen}`);
  }

  end(): void {
    spawnSync('tmux', ['-S', join(this.#folder, 'socket'), 'kill-server']);
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
