/**
 * Adds up lines by template, level and step over the parts of a response. Equivalent templates of different
 * chunks are merged at the end. Rare ones are then omitted, as in the reference.
 */
import {
  MAX_QUERY_SAMPLES,
  MAX_QUERY_TEMPLATES,
  MAX_SHOWN,
  MIN_SHOWN_LINES,
} from '../../upkeep/pattern-mining/bounds.ts';
import { joinAll } from '../../upkeep/pattern-mining/join.ts';
import { LEVEL_BITS, LEVELS } from '../../upkeep/pattern-mining/levels.ts';
import { patternOf } from '../../upkeep/pattern-mining/template.ts';

/** Maximum steps without lines between the first and the last one for which they are shown as zeros. */
const MAX_ZEROS = 1000;
const LEVEL_COUNT = 1 << LEVEL_BITS;

export interface FoundPattern {
  /** Pattern in the syntax of `|>`. */
  readonly pattern: string;
  readonly level: string;
  /** Start of each step in Unix seconds, and its lines; ascending. */
  readonly samples: readonly (readonly [number, number])[];
}

/** Lines by number of the step. */
type Samples = Map<number, number>;

export class PatternTotals {
  readonly #stepS: number;
  readonly #numbers = new Map<string, number>();
  readonly #keys: string[] = [];
  /** Samples by number of the template and level. */
  readonly #samples: (Samples | undefined)[] = [];
  #sampleCount = 0;

  /** @param stepS whole seconds, at least 1 */
  constructor(stepS: number) {
    this.#stepS = stepS;
  }

  /** Returns the number of a template, or -1 if there are too many. */
  numberOf(key: string): number {
    let number = this.#numbers.get(key);
    if (number === undefined) {
      if (this.#keys.length >= MAX_QUERY_TEMPLATES) return -1;
      number = this.#keys.length;
      this.#numbers.set(key, number);
      this.#keys.push(key);
    }
    return number;
  }

  /** @param lines may be fractional, if lines represent others */
  add(template: number, level: number, unixSecond: number, lines: number): void {
    if (template < 0) return;
    const index = template * LEVEL_COUNT + level;
    const samples = (this.#samples[index] ??= new Map());
    const step = Math.floor(unixSecond / this.#stepS);
    const known = samples.get(step);
    if (known === undefined) {
      if (this.#sampleCount >= MAX_QUERY_SAMPLES) return;
      this.#sampleCount++;
    }
    samples.set(step, (known ?? 0) + lines);
  }

  /** Sorted by lines, descending. */
  finish(): FoundPattern[] {
    const counted: {
      readonly key: string;
      readonly group: number;
      readonly lines: number;
      readonly samples: Samples;
    }[] = [];
    for (const [index, samples] of this.#samples.entries()) {
      if (samples === undefined) continue;
      const key = this.#keys[Math.floor(index / LEVEL_COUNT)];
      counted.push({ key, group: index % LEVEL_COUNT, lines: sumOf(samples), samples });
    }
    const joined = joinAll(counted, MIN_SHOWN_LINES);
    const found = new Map<
      string,
      { readonly key: string; readonly level: number; readonly samples: Samples }
    >();
    for (const [i, { group: level, samples }] of counted.entries()) {
      const key = joined[i];
      const known = found.get(`${level}${key}`);
      if (known === undefined) found.set(`${level}${key}`, { key, level, samples: new Map(samples) });
      else addTo(known.samples, samples);
    }
    return [...found.values()]
      .map(one => ({ ...one, lines: sumOf(one.samples) }))
      .filter(({ lines }) => lines >= MIN_SHOWN_LINES)
      .sort((a, b) => b.lines - a.lines || (a.key < b.key ? -1 : a.key > b.key ? 1 : a.level - b.level))
      .slice(0, MAX_SHOWN)
      .map(({ key, level, samples }) => ({
        pattern: patternOf(key),
        level: LEVELS[level],
        samples: this.#shown(samples),
      }));
  }

  #shown(samples: Samples): (readonly [number, number])[] {
    const steps = [...samples.keys()].sort((a, b) => a - b);
    const first = steps[0];
    const last = steps[steps.length - 1];
    const all =
      last - first <= MAX_ZEROS ? Array.from({ length: last - first + 1 }, (_, i) => first + i) : steps;
    return all.map(step => [step * this.#stepS, Math.round(samples.get(step) ?? 0)] as const);
  }
}

function sumOf(samples: Samples): number {
  let sum = 0;
  for (const lines of samples.values()) sum += lines;
  return sum;
}

function addTo(sum: Samples, samples: Samples): void {
  for (const [step, lines] of samples) sum.set(step, (sum.get(step) ?? 0) + lines);
}
