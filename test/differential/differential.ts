/** Runs queries, each from a separate seed, against stores and the oracle. */
import { ParseError } from '../../shared/language/logql/errors.ts';
import { Dice } from '../simulation/dice.ts';
import { DAY_START_NS } from '../support/engine.ts';
import type { DatedEntry } from '../support/pushes.ts';
import { type Asking, difference, type Expected, expectedOf, WHOLE } from './compare.ts';
import { CORPUS_SECONDS, corpusOf, FIRST_SECOND } from './corpus.ts';
import { Generator } from './generate.ts';
import { toBytes } from './oracle/bytes.ts';
import { Oracle, type OracleEntry } from './oracle/oracle.ts';
import { Undecided } from './oracle/undecided.ts';
import { type QueryTree, textOf } from './queries.ts';
import { shrink } from './shrink.ts';
import { storesOf, type TestedStore } from './stores.ts';

interface Disagreement {
  readonly seed: number;
  readonly store: string;
  /** Query as generated. */
  readonly query: string;
  readonly minimal: string;
  readonly asking: Asking;
  readonly difference: string;
}

interface Outcome {
  /** Queries that were compared, in every store. */
  readonly compared: number;
  /** Queries on which the oracle has no opinion. */
  readonly undecided: number;
  /** Compared queries that failed in both. */
  readonly failed: number;
  /** Compared queries with an empty answer. */
  readonly empty: number;
  readonly disagreements: readonly Disagreement[];
}

interface RunOptions {
  readonly onProgress?: (done: number) => void;
  readonly misread?: (text: string) => string;
}

const same = (text: string) => text;

/** The search stops at this number: one disagreement is enough to start with. */
const MAX_DISAGREEMENTS = 20;

export class Differential {
  readonly stores: readonly TestedStore[];
  readonly #oracle: Oracle;

  private constructor(stores: readonly TestedStore[], oracle: Oracle) {
    this.stores = stores;
    this.#oracle = oracle;
  }

  static async of(corpusSeed: number): Promise<Differential> {
    const entries = corpusOf(corpusSeed);
    return new Differential(await storesOf(entries, corpusSeed), new Oracle(oracleEntries(entries)));
  }

  /**
   * Queries of the seeds `first`, `first + 1`, and so on.
   *
   * @param misread what the product is asked instead of a query: a planted bug
   */
  async run(first: number, count: number, { onProgress, misread = same }: RunOptions = {}): Promise<Outcome> {
    const outcome = { compared: 0, undecided: 0, failed: 0, empty: 0, disagreements: [] as Disagreement[] };
    for (let seed = first; seed < first + count; seed++) {
      const { tree, asking } = questionOf(seed);
      const expected = this.#expected(tree, asking);
      onProgress?.(seed - first);
      if (expected === undefined) {
        outcome.undecided++;
        continue;
      }
      outcome.compared++;
      if (expected.kind === 'failure') outcome.failed++;
      if (isEmpty(expected)) outcome.empty++;
      for (const store of this.stores) {
        const found = await difference(store.engine, misread(textOf(tree)), asking, expected);
        if (found === undefined) continue;
        outcome.disagreements.push(await this.#smallest(seed, store, tree, asking, misread));
        break;
      }
      if (outcome.disagreements.length === MAX_DISAGREEMENTS) break;
    }
    return outcome;
  }

  /** Undefined if the oracle is undecided. */
  #expected(tree: QueryTree, asking: Asking): Expected | undefined {
    try {
      return expectedOf(this.#oracle, textOf(tree), asking);
    } catch (error) {
      // A query without one of its stages may be none.
      if (error instanceof Undecided || error instanceof ParseError) return undefined;
      throw new Error(`the oracle fails on ${textOf(tree)}`, { cause: error });
    }
  }

  async #smallest(
    seed: number,
    store: TestedStore,
    tree: QueryTree,
    asking: Asking,
    misread: (text: string) => string,
  ): Promise<Disagreement> {
    const differs = async (candidate: QueryTree) => {
      const expected = this.#expected(candidate, asking);
      return expected && (await difference(store.engine, misread(textOf(candidate)), asking, expected));
    };
    const minimal = await shrink(tree, async candidate => (await differs(candidate)) !== undefined);
    return {
      seed,
      store: store.name,
      query: textOf(tree),
      minimal: textOf(minimal),
      asking,
      difference: (await differs(minimal)) ?? 'none when asked again',
    };
  }
}

/** The query of a seed, and how it runs. */
function questionOf(seed: number): { readonly tree: QueryTree; readonly asking: Asking } {
  const tree = new Generator(seed).query();
  const dice = new Dice(seed ^ 0x5bd1e995);
  if (dice.chance(0.5)) return { tree, asking: WHOLE };
  const stepS = dice.pick([60, 300, 600, 1_800]);
  const startS = Math.floor((FIRST_SECOND + dice.below(CORPUS_SECONDS)) / stepS) * stepS;
  const steps = dice.between(0, stepS === 60 ? 10 : 4);
  const asking = {
    instant: dice.chance(0.4),
    startS,
    endS: startS + Math.max(1, steps) * stepS,
    stepS,
    limit: dice.chance(0.4) ? dice.between(1, 20) : WHOLE.limit,
    backward: dice.chance(0.5),
    categorize: dice.chance(0.5),
  };
  return {
    tree,
    asking:
      tree.kind === 'log' && dice.chance(0.5)
        ? { ...asking, startS: WHOLE.startS, endS: WHOLE.endS }
        : asking,
  };
}

function isEmpty(expected: Expected): boolean {
  return (
    (expected.kind === 'lines' && expected.lines.length === 0) ||
    (expected.kind === 'points' && expected.points.length === 0)
  );
}

function oracleEntries(entries: readonly DatedEntry[]): OracleEntry[] {
  const bytesOfPairs = (pairs: Readonly<Record<string, string>>) =>
    new Map(Object.entries(pairs).map(([name, value]) => [toBytes(name), toBytes(value)]));
  return entries
    .toSorted((a, b) => a.time - b.time)
    .map(({ stream, time, line, metadata }) => ({
      timeNs: DAY_START_NS + BigInt(time),
      line: toBytes(line),
      stream: bytesOfPairs(stream),
      metadata: bytesOfPairs(metadata),
    }));
}

export function formatDisagreement({
  seed,
  store,
  query,
  minimal,
  asking,
  difference: found,
}: Disagreement): string {
  return [
    `seed ${seed}, in ${store}:`,
    `  ${minimal}`,
    `  of ${query}`,
    `  asked ${JSON.stringify(asking)}`,
    ...found.split('\n').map(line => `  ${line}`),
  ].join('\n');
}
