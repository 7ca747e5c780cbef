/**
 * Formats query statistics as a table: data considered, pruned and read, and where tasks ran. Figures of
 * several requests are added.
 */
import { groupedText } from './count-text.ts';

type FiguresByGroup = Map<string, Map<string, number>>;

/** Maximum number of rounds shown over all requests. */
const MAX_ROUNDS = 50;

export class ExplanationText {
  readonly #figures: FiguresByGroup = new Map();
  readonly #texts = new Map<string, Set<string>>();
  readonly #rounds: string[] = [];

  /** Adds the explanation of one response. Ignores values that are not strings or groups of numbers. */
  add(explanation: unknown): void {
    if (typeof explanation !== 'object' || explanation === null) return;
    for (const [group, values] of Object.entries(explanation)) {
      if (group === 'rounds' && Array.isArray(values)) {
        for (const [i, round] of values.entries()) this.#addRound(`round ${i + 1}`, round);
        continue;
      }
      if (group === 'parts' && Array.isArray(values)) {
        for (const [i, part] of values.entries()) this.#addPart(`part ${i + 1}`, part);
        continue;
      }
      if (typeof values === 'string') {
        this.#texts.set(group, (this.#texts.get(group) ?? new Set()).add(values));
        continue;
      }
      if (typeof values !== 'object' || values === null) continue;
      const sums = this.#figures.get(group) ?? new Map<string, number>();
      this.#figures.set(group, sums);
      for (const [name, value] of Object.entries(values)) {
        if (typeof value === 'number') sums.set(name, (sums.get(name) ?? 0) + value);
      }
    }
  }

  /** Adds a part that a worker ran: a line for each of its rounds. */
  #addPart(name: string, part: unknown): void {
    const { rounds } = (part ?? {}) as Record<string, unknown>;
    if (!Array.isArray(rounds)) return;
    for (const [i, round] of rounds.entries()) this.#addRound(`${name}.${i + 1}`, round);
  }

  #addRound(name: string, round: unknown): void {
    if (this.#rounds.length >= MAX_ROUNDS || typeof round !== 'object' || round === null) return;
    const { ms, waitedFor, reads, connectionMs } = round as Record<string, unknown>;
    if (typeof ms !== 'number' || typeof waitedFor !== 'string' || typeof reads !== 'object') return;
    const kinds = Object.entries(reads ?? {}).map(([what, figures]) => {
      const { requests, bytes } = figures as Record<string, unknown>;
      return `${worded(what)} ${Number(requests)} (${groupedText(Number(bytes))} bytes)`;
    });
    const waited = typeof connectionMs === 'number' ? `, up to ${connectionMs} ms for a connection` : '';
    this.#rounds.push(
      `${name.padEnd(13)}${ms} ms, ${kinds.join(', ')}; waited for ${worded(waitedFor)}${waited}`,
    );
  }

  /** A line for each group, or a note if the store sent no explanation. */
  get text(): string {
    if (this.#figures.size === 0)
      return 'the store sent no explanation; only Logboom explains queries, so check --addr\n';
    const lines = [...this.#figures].map(([group, sums]) => {
      const figures = [...sums].map(([name, value]) => `${worded(name)} ${groupedText(value)}`);
      return `${worded(group).padEnd(13)}${figures.join(', ')}`;
    });
    for (const [name, values] of this.#texts)
      lines.push(`${worded(name).padEnd(13)}${[...values].join(', ')}`);
    return `${[...lines, ...this.#rounds].join('\n')}\n`;
  }
}

/** Splits a name into words: `prunedByText` → `pruned by text`. */
function worded(name: string): string {
  return name.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
}
