/** Adds up the query statistics that a store returns with each response, over the requests of a command. */
import { NS_OF_SECOND } from '../../shared/base/model/time-units.ts';
import { groupedText } from './count-text.ts';

interface StatisticsSummary {
  readonly [name: string]: unknown;
}

/** Rates are computed from the sums. */
const RATES: readonly (readonly [string, string])[] = [
  ['bytesProcessedPerSecond', 'totalBytesProcessed'],
  ['linesProcessedPerSecond', 'totalLinesProcessed'],
];

export class StatisticsSum {
  readonly #sums = new Map<string, number>();
  #requests = 0;

  /** Adds the `stats` of a response; ignores other values. */
  add(stats: unknown): void {
    const summary = (stats as { summary?: StatisticsSummary } | undefined)?.summary;
    if (typeof summary !== 'object' || summary === null) return;
    this.#requests++;
    for (const [name, value] of Object.entries(summary)) {
      if (typeof value === 'number') this.#sums.set(name, (this.#sums.get(name) ?? 0) + value);
    }
    const seconds = this.#sums.get('execTime') ?? 0;
    for (const [rate, total] of RATES) {
      if (this.#sums.has(rate))
        this.#sums.set(rate, seconds > 0 ? Math.round((this.#sums.get(total) ?? 0) / seconds) : 0);
    }
  }

  /** A line for each statistic. */
  get text(): string {
    if (this.#requests === 0) return 'the store sent no statistics\n';
    const lines = [['requests', this.#requests] as const, ...this.#sums].map(
      ([name, value]) => `${worded(name).padEnd(42)}${shownFigure(name, value)}\n`,
    );
    return lines.join('');
  }
}

function shownFigure(name: string, value: number): string {
  if (!/time$/i.test(name)) return groupedText(value);
  return `${(Math.round(value * NS_OF_SECOND) / NS_OF_SECOND).toFixed(6)} s`;
}

/** Splits a name into words: `totalLinesProcessed` → `total lines processed`. */
function worded(name: string): string {
  return name.replaceAll(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`);
}
