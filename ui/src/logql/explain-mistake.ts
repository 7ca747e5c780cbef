/**
 * Explains a mistake in a query in one sentence, with the corrected query. The store reports a position and a
 * token; this module names the typical mistake at that point.
 *
 *     explainMistake('{app="x"} | jsno')
 *     // { sentence: '“jsno” is not a stage. Did you mean “json”?', query: '{app="x"} | json' }
 *
 * A corrected query is offered only if it is valid in the store's grammar.
 */
import { closersAt, openBracket } from './bracket-mistakes.ts';
import {
  curlyQuotes,
  doublePipe,
  filterWord,
  joinedSelectors,
  matcherMarks,
  openEnd,
  unitOfValue,
  unquotedTemplate,
  unquotedText,
} from './filter-mistakes.ts';
import { isLogql } from './grammar.ts';
import { countedLines, groupedRange, noParameter, unwrappedLines } from './metric-mistakes.ts';
import {
  closeIndex,
  type MistakeExplanation,
  type MistakeRule,
  quotedPart,
  replaced,
  shortUnit,
} from './mistake-rule.ts';
import { nearestWord } from './nearest-word.ts';
import { quoted, type Token, tokensOf, valueOfString } from './tokens.ts';
import { AGGREGATIONS, RANGE_FUNCTIONS, STAGES } from './vocabulary.ts';
import { ALL_SERVICES } from './words.ts';

const NEEDS_MATCHER = 'A selector needs at least one matcher that does not match the empty text.';
const STAGE_NAMES = STAGES.map(({ text }) => text);
const OVER_RANGE = new Set(RANGE_FUNCTIONS.map(({ text }) => text));
const AGGREGATION_NAMES = new Set(AGGREGATIONS.map(({ text }) => text));
const FUNCTION_NAMES = [...OVER_RANGE, ...AGGREGATION_NAMES];
/** Words before a parenthesis that are not misspelled functions. */
const OTHER_CALLS = new Set(
  ['vector', 'label_replace', 'approx_topk', 'ip', 'bytes', 'duration', 'duration_seconds', 'by', 'without']
    .concat(['on', 'ignoring', 'group_left', 'group_right', 'and', 'or', 'unless', 'bool', 'offset'])
    .concat(STAGE_NAMES),
);
const LABEL_OPERATORS = new Set(['=', '!=', '=~', '!~', '==', '>', '<', '>=', '<=']);

/** Explanation; undefined if no rule matches, so that only the store's message is shown. */
export function explainMistake(query: string): MistakeExplanation | undefined {
  const tokens = tokensOf(query).filter(({ kind }) => kind !== 'comment');
  for (const rule of RULES) {
    const found = rule(query, tokens);
    if (found === undefined) continue;
    if (found.query !== undefined && found.query !== query && isLogql(found.query)) return found;
    return { sentence: found.sentence };
  }
  return undefined;
}

const openText: MistakeRule = (query, tokens) => {
  const open = tokens.find(({ kind }) => kind === 'open-string');
  if (open === undefined) return undefined;
  const quote = open.text[0];
  const end = query.trimEnd();
  const brackets = closersAt(tokens.filter(token => token !== open));
  const closed = [`${end}${quote}`, `${end}${quote}${brackets}`].find(isLogql);
  return {
    sentence: `The text that starts with ${quotedPart(open.text)} has no closing ${quote}.`,
    query: closed,
  };
};

const singleQuotes: MistakeRule = query => {
  const found = /([=~>])\s*'([^'"\n]*)'/.exec(query);
  if (found === null) return undefined;
  return {
    sentence: 'LogQL strings use double quotes or backquotes, not single quotes.',
    query: query.replace(
      /([=~>]\s*)'([^'"\n]*)'/g,
      (_, before: string, text: string) => before + quoted(text),
    ),
  };
};

const noSelector: MistakeRule = (query, tokens) => {
  if (!/^(?:\||\|[=~>]|![=~>])$/.test(tokens[0]?.text ?? '')) return undefined;
  return {
    sentence: 'A query starts with a selector, which names the streams to read.',
    query: `${ALL_SERVICES} ${query.trim()}`,
  };
};

const emptySelector: MistakeRule = (query, tokens) => {
  const open = tokens.findIndex(({ text }, i) => text === '{' && tokens[i + 1]?.text === '}');
  if (open === -1) return undefined;
  return {
    sentence: NEEDS_MATCHER,
    query: `${query.slice(0, tokens[open].from)}${ALL_SERVICES}${query.slice(tokens[open + 1].to)}`,
  };
};

/** `{app=~".*"}`, which selects everything, also streams without the label. */
const emptyMatchers: MistakeRule = (query, tokens) => {
  const close = tokens.findIndex(({ text }) => text === '}');
  const matched = tokens.slice(0, close).flatMap((token, i) => {
    const value = token.kind === 'string' ? valueOfString(token) : undefined;
    return value === undefined ? [] : [{ token, op: tokens[i - 1]?.text, value }];
  });
  const selects = matched.some(
    ({ op, value }) => (op === '=' && value !== '') || (op === '=~' && !/^(?:\.\*)?$/.test(value)),
  );
  const all = matched.find(({ op, value }) => op === '=~' && value === '.*');
  if (selects || all === undefined) return undefined;
  return { sentence: NEEDS_MATCHER, query: replaced(query, all.token, '".+"') };
};

/** `{app=foo}`, `{app=="foo"}`, `{a="b" and c="d"}`. */
const matchers: MistakeRule = (query, tokens) => {
  let open = false;
  for (const [i, token] of tokens.entries()) {
    if (token.text === '{') open = true;
    else if (token.text === '}') open = false;
    const before = tokens[i - 1];
    if (!open || before === undefined) continue;
    if (token.text === '==') {
      return {
        sentence: 'A selector compares with = (equal), != (not equal), =~ or !~ (regular expression).',
        query: replaced(query, token, '='),
      };
    }
    if (['and', 'or', '&&', '||'].includes(token.text.toLowerCase()) && before.kind === 'string') {
      return {
        sentence: 'Matchers of a selector are separated by commas, and all of them apply.',
        query: replaced(query, token, ',').replace(/\s+,/, ','),
      };
    }
    if (LABEL_OPERATORS.has(before.text) && (token.kind === 'word' || token.kind === 'number')) {
      const value = /^[^\s,}]*/.exec(query.slice(token.from))![0];
      const whole = { ...token, to: token.from + value.length };
      return {
        sentence: `The value of a matcher is written in quotes: ${quoted(value)}.`,
        query: replaced(query, whole, quoted(value)),
      };
    }
  }
  return undefined;
};

const misspelledCall: MistakeRule = (query, tokens) => {
  const call = tokens.find(
    ({ kind, text }, i) =>
      kind === 'word' &&
      ['(', 'by', 'without'].includes(tokens[i + 1]?.text ?? '') &&
      !FUNCTION_NAMES.includes(text.toLowerCase()) &&
      !OTHER_CALLS.has(text.toLowerCase()),
  );
  return call === undefined ? undefined : didYouMean(query, call, 'function', FUNCTION_NAMES);
};

/** `| jsno`: a word after a pipe without a comparison. */
const misspelledStage: MistakeRule = (query, tokens) => {
  const stage = tokens.find(
    ({ kind, text }, i) =>
      kind === 'word' &&
      tokens[i - 1]?.text === '|' &&
      !STAGE_NAMES.includes(text.toLowerCase()) &&
      !LABEL_OPERATORS.has(tokens[i + 1]?.text ?? ''),
  );
  return stage === undefined ? undefined : didYouMean(query, stage, 'stage', STAGE_NAMES);
};

/** `{app="x"} "text"`, `{app="x"} timeout`. */
const noFilter: MistakeRule = (query, tokens) => {
  const close = tokens.findIndex(({ text }) => text === '}');
  const next = tokens[close + 1];
  if (close === -1 || next === undefined || tokens[0].text !== '{') return undefined;
  if (next.kind === 'string') {
    return {
      sentence:
        'A text after a selector needs a line filter before it, such as |= for lines that contain it.',
      query: `${query.slice(0, next.from)}|= ${query.slice(next.from)}`,
    };
  }
  if (next.kind !== 'word' && next.kind !== 'number') return undefined;
  const words = query.slice(next.from).trim();
  return {
    sentence: 'To search for a text, write it in quotes after |=.',
    query: `${query.slice(0, next.from)}|= ${quoted(words)}`,
  };
};

const unitOfRange: MistakeRule = query => {
  const found = /\[\s*(\d+)\s*([a-zA-Z]*)\s*\]/.exec(query);
  if (found === null) return undefined;
  const [range, count, unit] = found;
  const short = unit === '' ? 's' : shortUnit(unit);
  if (range === `[${count}${short}]`) return undefined;
  return {
    sentence: `${quotedPart(range)} is not a duration. Units are ms, s, m, h, d, w, and y, without spaces.`,
    query: short === undefined ? undefined : query.replace(range, `[${count}${short}]`),
  };
};

/** `rate({app="x"})`. */
const noRange: MistakeRule = (query, tokens) => {
  const call = tokens.findIndex(({ text }, i) => OVER_RANGE.has(text) && tokens[i + 1]?.text === '(');
  if (call === -1) return undefined;
  const close = closeIndex(tokens, call + 1);
  if (close === -1 || tokens.slice(call, close).some(({ text }) => text === '[')) return undefined;
  const end = tokens[close];
  return {
    sentence: `${tokens[call].text} needs a range such as [5m]. [$__auto] adapts to the chart.`,
    query: `${query.slice(0, end.from)}[$__auto]${query.slice(end.from)}`,
  };
};

/** `sum by app (...)`. */
const noGroupingBrackets: MistakeRule = (query, tokens) => {
  const by = tokens.findIndex(
    ({ text }, i) => ['by', 'without'].includes(text) && tokens[i + 1]?.kind === 'word',
  );
  if (by === -1) return undefined;
  const label = tokens[by + 1];
  return {
    sentence: `Labels after ${tokens[by].text} are written in parentheses: (${label.text}).`,
    query: replaced(query, label, `(${label.text})`),
  };
};

/** `| level == "error"`. */
const doubleEquals: MistakeRule = (query, tokens) => {
  const at = tokens.findIndex(({ text }, i) => text === '==' && tokens[i + 1]?.kind === 'string');
  if (at === -1) return undefined;
  return {
    sentence: 'Text is compared with =, and numbers with ==.',
    query: replaced(query, tokens[at], '='),
  };
};

/** Rules in order: mistakes that hide others come first. */
const RULES: readonly MistakeRule[] = [
  curlyQuotes,
  openText,
  singleQuotes,
  noSelector,
  emptySelector,
  matchers,
  matcherMarks,
  noGroupingBrackets,
  misspelledCall,
  doublePipe,
  filterWord,
  misspelledStage,
  joinedSelectors,
  noFilter,
  unitOfRange,
  openBracket,
  openEnd,
  unquotedText,
  unquotedTemplate,
  unitOfValue,
  noParameter,
  countedLines,
  groupedRange,
  noRange,
  unwrappedLines,
  doubleEquals,
  emptyMatchers,
];

function didYouMean(query: string, token: Token, noun: string, known: readonly string[]): MistakeExplanation {
  const meant = nearestWord(token.text, known);
  const sentence = `${quotedPart(token.text)} is not a ${noun}.`;
  if (meant === undefined) {
    return { sentence: noun === 'stage' ? `${sentence} Stages are ${known.join(', ')}.` : sentence };
  }
  return { sentence: `${sentence} Did you mean ${quotedPart(meant)}?`, query: replaced(query, token, meant) };
}
