/**
 * Completions at the cursor of the editor: words of LogQL, and names and values that the store has in the
 * range.
 */
import type { Completions, Offer } from '../components/code-editor.ts';
import { type CursorContext, contextAt } from '../logql/completion.ts';
import {
  AGGREGATIONS,
  DURATIONS,
  LINE_FILTERS,
  RANGE_FUNCTIONS,
  STAGES,
  type Word,
} from '../logql/vocabulary.ts';
import { fetchDetectedFields, fetchLabelNames, fetchLabelValues, type MsRange } from './queries.ts';

/** Cache time. Names and values change slowly, and typing requests them often. */
const KEPT_MS = 60_000;
const MAX_KEPT = 200;
/** Maximum number of completions. A user with more values types another letter. */
const MAX_OFFERS = 500;

interface CachedOffers {
  readonly at: number;
  readonly answer: Promise<readonly Offer[]>;
}

export type Complete = (query: string, cursor: number) => Promise<Completions | undefined>;

/** @param rangeOf range whose labels and fields are offered */
export function createComplete(rangeOf: () => MsRange | undefined): Complete {
  const kept = new Map<string, CachedOffers>();

  function remembered(
    key: string,
    load: (range: MsRange) => Promise<readonly Offer[]>,
  ): Promise<readonly Offer[]> {
    const range = rangeOf();
    if (range === undefined) return Promise.resolve([]);
    const known = kept.get(key);
    const now = performance.now();
    if (known !== undefined && now - known.at < KEPT_MS) return known.answer;
    if (kept.size >= MAX_KEPT) kept.clear();
    // Offers nothing if the store does not respond; running the query shows the error.
    const answer = load(range).catch(() => []);
    kept.set(key, { at: now, answer });
    return answer;
  }

  const fields = (selector: string | undefined) =>
    selector === undefined
      ? Promise.resolve([])
      : remembered(`fields ${selector}`, async range => {
          const found = await fetchDetectedFields(selector, range);
          return found.map(({ label, type, parsers }) => ({
            label,
            detail: parsers?.length ? `${type}, ${parsers.join(' or ')}` : type,
            kind: 'field' as const,
          }));
        });

  const labels = (selector: string | undefined) =>
    remembered(`labels ${selector}`, async range => {
      const names = await fetchLabelNames(range, selector);
      return names.filter(name => !/^__.*__$/.test(name)).map(label => ({ label, kind: 'label' as const }));
    });

  async function offersFor(context: Exclude<CursorContext, { kind: 'none' }>): Promise<readonly Offer[]> {
    switch (context.kind) {
      case 'label':
        return (await labels(context.selector)).map(offer => ({
          ...offer,
          writes: `${offer.label}="¦"`,
          goesOn: true,
        }));
      case 'value': {
        const values = await remembered(`values ${context.label} ${context.selector}`, async range => {
          const found = await fetchLabelValues(context.label, range, context.selector);
          return found.map(label => ({ label, kind: 'value' as const }));
        });
        const escaped = (text: string) => (context.quote === '"' ? JSON.stringify(text).slice(1, -1) : text);
        return values.map(offer => ({ ...offer, writes: `${escaped(offer.label)}${context.quote}` }));
      }
      case 'stage': {
        const found = await fields(context.selector);
        return [
          ...STAGES.map(word => offerOf(word, 'stage')),
          ...found.map(offer => ({ ...offer, writes: `${offer.label}="¦"` })),
        ];
      }
      case 'field': {
        const [ofStreams, ofLines] = await Promise.all([labels(context.selector), fields(context.selector)]);
        const known = new Set(ofStreams.map(({ label }) => label));
        return [...ofStreams, ...ofLines.filter(({ label }) => !known.has(label))];
      }
      case 'pipe':
        return [
          ...LINE_FILTERS.map(word => offerOf(word, 'stage')),
          { label: '|', detail: 'a parser, a filter, a format', kind: 'stage', writes: '| ', goesOn: true },
        ];
      case 'range':
        return ['$__auto', ...DURATIONS].map(label => ({
          label,
          kind: 'text' as const,
          writes: `${label}]`,
        }));
      case 'expression':
        return [
          { label: '{', detail: 'select streams', kind: 'text', writes: '{¦}' },
          ...RANGE_FUNCTIONS.map(word => offerOf(word, 'function')),
          ...AGGREGATIONS.map(word => offerOf(word, 'function')),
        ];
    }
  }

  return async (query, cursor) => {
    const context = contextAt(query, cursor);
    if (context.kind === 'none') return undefined;
    const offers = await offersFor(context);
    return { from: context.from, offers: offers.slice(0, MAX_OFFERS) };
  };
}

function offerOf({ text, does, writes }: Word, kind: Offer['kind']): Offer {
  return { label: text, detail: does, kind, writes };
}
