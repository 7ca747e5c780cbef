/**
 * Current overrides, reloaded while the program runs. A long-lived process calls `refresh` from a timer. A
 * function calls `refreshIfDue` with each request, because it does not run between requests.
 *
 * Pitfall: after a failed reload, all previous limits stay in force. The failure is logged once, not at every
 * check.
 */
import { messageOf } from '../../base/model/errors.ts';
import type { Limits } from '../../base/model/limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { parseOverrides } from './overrides.ts';
import type { OverridesSource } from './overrides-source.ts';

/** The required part of a logger, compatible with pino. */
interface OverridesLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

interface OverridesWatchParts {
  /** A later source overrides earlier ones. */
  readonly sources: readonly OverridesSource[];
  readonly defaults: Limits;
  readonly clock: Clock;
  /** Reload interval; 0 reads them only once. */
  readonly periodMs: number;
  readonly log: OverridesLog;
}

export class OverridesWatch {
  readonly #parts: OverridesWatchParts;
  #limits: ReadonlyMap<string, Limits> = new Map();
  /** Stamps of the current texts. */
  #stamps: readonly string[] = [];
  /** Stamps and error of refused texts, which are not parsed again. */
  #refused: { readonly stamps: string; readonly error: unknown } | undefined;
  #isLoaded: boolean;
  #checkedMs = 0;
  /** The running reload. */
  #reload: Promise<void> | undefined;
  /** Last logged error, so that a lasting error is logged once. */
  #lastFault = '';

  constructor(parts: OverridesWatchParts) {
    this.#parts = parts;
    this.#isLoaded = parts.sources.length === 0;
  }

  /** Returns the same object until the overrides change. */
  readonly limitsOf = (tenant: string): Limits => this.#limits.get(tenant) ?? this.#parts.defaults;

  /** Reads the overrides for the first time. Throws ConfigError, or an error of the source. */
  async load(): Promise<void> {
    if (this.#isLoaded) return;
    this.#checkedMs = this.#parts.clock.nowMs();
    await this.#readAll();
    this.#isLoaded = true;
  }

  /** Reloads changed overrides. Never throws after a successful `load`: errors are logged. */
  async refresh(): Promise<void> {
    if (!this.#isLoaded) return this.load();
    this.#checkedMs = this.#parts.clock.nowMs();
    try {
      await this.#readAll();
      this.#lastFault = '';
    } catch (error) {
      const fault = messageOf(error);
      if (fault !== this.#lastFault)
        this.#parts.log.error(`overrides reload failed; keeping the previous overrides: ${fault}`);
      this.#lastFault = fault;
    }
  }

  /** Reloads if the last check is older than the period. Concurrent requests share one reload. */
  async refreshIfDue(): Promise<void> {
    const { sources, clock, periodMs } = this.#parts;
    if (sources.length === 0) return;
    const due = !this.#isLoaded || (periodMs > 0 && clock.nowMs() - this.#checkedMs >= periodMs);
    if (this.#reload === undefined && due) {
      this.#reload = this.refresh().finally(() => {
        this.#reload = undefined;
      });
    }
    // Requests use the current limits without waiting, except the one that found the reload due.
    if (this.#reload !== undefined && (due || !this.#isLoaded)) await this.#reload;
  }

  /** Reloads every period until the signal aborts. Returns immediately without sources. */
  async keepFresh(signal: AbortSignal): Promise<void> {
    const { sources, clock, periodMs } = this.#parts;
    if (sources.length === 0 || periodMs === 0) return;
    while (!signal.aborted) {
      try {
        await clock.sleep(periodMs, signal);
      } catch {
        return;
      }
      await this.refresh();
    }
  }

  async #readAll(): Promise<void> {
    const { sources, defaults, log } = this.#parts;
    const changed = await Promise.all(sources.map((source, i) => source.read(this.#stamps[i])));
    if (changed.every(one => one === undefined)) return;
    // The texts are not cached, so unchanged ones are read again too.
    const read = await Promise.all(changed.map((one, i) => one ?? sources[i].read(undefined)));
    const now = read.filter(one => one !== undefined);
    const stamps = now.map(one => one.stamp);
    if (this.#refused !== undefined && this.#refused.stamps === stamps.join('\n')) throw this.#refused.error;
    try {
      const texts = now.map(({ text }, i) => ({ name: sources[i].name, text }));
      const { limits, warnings } = parseOverrides(texts, defaults);
      this.#limits = limits;
      this.#stamps = stamps;
      this.#refused = undefined;
      for (const warning of warnings) log.warn(warning);
      log.info(`overrides loaded, tenants: ${limits.size}`);
    } catch (error) {
      this.#refused = { stamps: stamps.join('\n'), error };
      throw error;
    }
  }
}
