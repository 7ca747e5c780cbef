/**
 * The overrides in force, read again while the program runs. A long-lived process calls `refresh` from a timer, a
 * function with each request (`refreshIfDue`): between two requests it does not run.
 *
 * What a reader would get wrong: a change that cannot be read leaves the old limits in force, all of them, and is
 * logged once, not at every look.
 */
import { messageOf } from '../../base/model/errors.ts';
import type { Limits } from '../../base/model/limits.ts';
import type { Clock } from '../../base/ports/clock.ts';
import { parseOverrides } from './overrides.ts';
import type { OverridesSource } from './overrides-source.ts';

/** The part of a logger that this needs; pino fits. */
export interface OverridesLog {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface OverridesWatchParts {
  /** A later one counts over an earlier one. */
  readonly sources: readonly OverridesSource[];
  readonly defaults: Limits;
  readonly clock: Clock;
  /** 0: they are read once. */
  readonly periodMs: number;
  readonly log: OverridesLog;
}

export class OverridesWatch {
  readonly #parts: OverridesWatchParts;
  #limits: ReadonlyMap<string, Limits> = new Map();
  /** Stamps of the texts in force. */
  #stamps: readonly string[] = [];
  /** Texts that were refused, by their stamps, and why: they are not parsed again. */
  #refused: { readonly stamps: string; readonly error: unknown } | undefined;
  #isLoaded: boolean;
  #lookedAtMs = 0;
  /** The look that is under way. */
  #look: Promise<void> | undefined;
  /** What was logged last, so that a lasting fault is told once. */
  #lastFault = '';

  constructor(parts: OverridesWatchParts) {
    this.#parts = parts;
    this.#isLoaded = parts.sources.length === 0;
  }

  /** The same object until the overrides change. */
  readonly limitsOf = (tenant: string): Limits => this.#limits.get(tenant) ?? this.#parts.defaults;

  /** The first reading. Throws ConfigError, or an error of the place where the overrides lie. */
  async load(): Promise<void> {
    if (this.#isLoaded) return;
    this.#lookedAtMs = this.#parts.clock.nowMs();
    await this.#readAll();
    this.#isLoaded = true;
  }

  /** Looks for a change. Does not throw once `load` has succeeded: what is wrong is logged. */
  async refresh(): Promise<void> {
    if (!this.#isLoaded) return this.load();
    this.#lookedAtMs = this.#parts.clock.nowMs();
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

  /** Looks for a change where the last look is older than the period; requests at the same time share one look. */
  async refreshIfDue(): Promise<void> {
    const { sources, clock, periodMs } = this.#parts;
    if (sources.length === 0) return;
    const due = !this.#isLoaded || (periodMs > 0 && clock.nowMs() - this.#lookedAtMs >= periodMs);
    if (this.#look === undefined && due) {
      this.#look = this.refresh().finally(() => {
        this.#look = undefined;
      });
    }
    // With limits in force nobody waits for newer ones, but for the one who found them due.
    if (this.#look !== undefined && (due || !this.#isLoaded)) await this.#look;
  }

  /** Looks every period until the signal aborts; at once where there is nothing to look at. */
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
    // Texts are not kept: the others are read again too.
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
      log.info(`overrides loaded: ${limits.size} tenants`);
    } catch (error) {
      this.#refused = { stamps: stamps.join('\n'), error };
      throw error;
    }
  }
}
