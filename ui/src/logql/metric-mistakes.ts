/** Mistakes in metric queries: lines that are not counted, grouping, parameters, and unwrap without a function. */
import { closeIndex, inserted, type MistakeRule } from './mistake-rule.ts';
import { asksForLines } from './tokens.ts';
import { AGGREGATIONS, RANGE_FUNCTIONS } from './vocabulary.ts';

const AGGREGATION_NAMES = new Set(AGGREGATIONS.map(({ text }) => text));
const OVER_RANGE = new Set(RANGE_FUNCTIONS.map(({ text }) => text));
/** Functions over a range that group nothing. */
const UNGROUPED = new Set(
  ['rate', 'count_over_time', 'bytes_rate', 'bytes_over_time', 'absent_over_time'].concat([
    'sum_over_time',
    'rate_counter',
  ]),
);
const PARAMETERS: Readonly<Record<string, readonly [needs: string, example: string]>> = {
  quantile_over_time: ['a quantile from 0 to 1', '0.95'],
  topk: ['the number of series', '10'],
  bottomk: ['the number of series', '10'],
};

/** `count({app="x"})`. */
export const countedLines: MistakeRule = (query, tokens) => {
  const call = tokens.findIndex(({ text }, i) => AGGREGATION_NAMES.has(text) && callAt(tokens, i) !== -1);
  if (call === -1) return undefined;
  const open = callAt(tokens, call);
  const close = closeIndex(tokens, open);
  if (close === -1) return undefined;
  const inner = tokens.slice(open + 1, close);
  const selector = inner.find(({ text }) => text === '{');
  if (selector === undefined || inner.some(({ text }) => text === '[' || OVER_RANGE.has(text)))
    return undefined;
  const end = tokens[close].from;
  const lines = query.slice(selector.from, end).trimEnd();
  return {
    sentence: `${tokens[call].text} works on numbers. Count the lines first, for example with count_over_time.`,
    query: `${query.slice(0, selector.from)}count_over_time(${lines} [$__auto])${query.slice(end)}`,
  };
};

/** `count_over_time({app="x"}[5m]) by (app)`. */
export const groupedRange: MistakeRule = (query, tokens) => {
  const call = tokens.findIndex(({ text }, i) => UNGROUPED.has(text) && tokens[i + 1]?.text === '(');
  const close = call === -1 ? -1 : closeIndex(tokens, call + 1);
  const by = tokens[close + 1];
  if (close === -1 || !['by', 'without'].includes(by?.text ?? '')) return undefined;
  const end = closeIndex(tokens, close + 2);
  if (end === -1) return undefined;
  const inner = query.slice(tokens[call].from, tokens[close].to);
  const grouping = query.slice(by.from, tokens[end].to);
  return {
    sentence: `${tokens[call].text} does not group. Add its series up with sum.`,
    query: `${query.slice(0, tokens[call].from)}sum ${grouping} (${inner})${query.slice(tokens[end].to)}`,
  };
};

/** `quantile_over_time({app="x"} | unwrap d [5m])`, `topk(rate({app="x"}[5m]))`. */
export const noParameter: MistakeRule = (query, tokens) => {
  const call = tokens.findIndex(
    ({ text }, i) => text in PARAMETERS && tokens[i + 1]?.text === '(' && tokens[i + 2]?.kind !== 'number',
  );
  if (call === -1) return undefined;
  const [needs, example] = PARAMETERS[tokens[call].text];
  return {
    sentence: `${tokens[call].text} needs ${needs} before the query.`,
    query: inserted(query, tokens[call + 1].to, `${example}, `),
  };
};

/** `{app="x"} | unwrap duration`. */
export const unwrappedLines: MistakeRule = (query, tokens) => {
  const hasUnwrap = tokens.some(({ text }, i) => text === 'unwrap' && tokens[i - 1]?.text === '|');
  if (!hasUnwrap || !asksForLines(query)) return undefined;
  return {
    sentence: 'unwrap belongs to a function over a range, such as avg_over_time.',
    query: `avg_over_time(${query.trim()} [$__auto])`,
  };
};

/** Index of the opening bracket of a call, also with `by (...)` before it; -1 if there is none. */
function callAt(tokens: Parameters<MistakeRule>[1], name: number): number {
  if (tokens[name + 1]?.text === '(') return name + 1;
  if (!['by', 'without'].includes(tokens[name + 1]?.text ?? '') || tokens[name + 2]?.text !== '(') return -1;
  const close = closeIndex(tokens, name + 2);
  return close !== -1 && tokens[close + 1]?.text === '(' ? close + 1 : -1;
}
