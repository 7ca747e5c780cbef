/** Mistakes in a pipeline: texts without quotes, doubled or open-ended operators, units, filters in other dialects. */
import { isLogql } from './grammar.ts';
import { inSelector, inserted, type MistakeRule, quotedPart, replaced, shortUnit } from './mistake-rule.ts';
import { quoted, type Token } from './tokens.ts';
import { STAGES } from './vocabulary.ts';

const STAGE_NAMES = new Set(STAGES.map(({ text }) => text));
const LINE_OPERATORS = new Set(['|=', '!=', '|~', '!~', '|>', '!>']);
const TEXT_OPERATORS = new Set(['=', '!=', '=~', '!~']);
const COMPARISONS = new Set(['=', '!=', '==', '>', '<', '>=', '<=']);
/** Stages that need a name or a text after them. */
const NEEDS: Readonly<Record<string, string>> = {
  pattern: 'a pattern in quotes',
  regexp: 'a regular expression in quotes',
  line_format: 'a template in quotes',
  label_format: 'a new and an old label name',
  unwrap: 'the name of the label with the number',
  keep: 'label names',
  drop: 'label names',
};
const OPEN_ENDS = new Set([
  ...LINE_OPERATORS,
  ...COMPARISONS,
  '|',
  ',',
  'and',
  'or',
  'by',
  'without',
  '+',
  '-',
  '*',
  '/',
]);
/** Maximum tokens that are dropped at the end of an unfinished query. */
const MAX_DROPPED = 4;

/** `{app=“x”}`: quotes of a word processor. */
export const curlyQuotes: MistakeRule = query => {
  if (!/[“”„]/.test(query)) return undefined;
  return {
    sentence: 'LogQL strings use straight double quotes, not typographic ones.',
    query: query.replace(/[“”„]/g, '"'),
  };
};

/** `{app="x"} |= error`. */
export const unquotedText: MistakeRule = (query, tokens) => {
  const inside = inSelector(tokens);
  for (const [i, token] of tokens.entries()) {
    const next = tokens[i + 1];
    const isOperand = next?.kind === 'word' || next?.kind === 'number';
    if (inside[i] || !isOperand || next.text === 'ip') continue;
    const before = tokens[i - 1];
    // After a label, these operators compare its value.
    if (LINE_OPERATORS.has(token.text) && before?.kind !== 'word' && before?.kind !== 'number') {
      const text = query.slice(next.from, endOfText(query, tokens, i + 1));
      return {
        sentence: `The text of a line filter is written in quotes: ${quoted(text)}.`,
        query: replaced(query, { from: next.from, to: next.from + text.length }, quoted(text)),
      };
    }
    const compares = TEXT_OPERATORS.has(token.text) && before?.kind === 'word' && next.kind === 'word';
    if (compares && !STAGE_NAMES.has(stageAt(tokens, i))) {
      const value = /^[^\s|),]*/.exec(query.slice(next.from))![0];
      return {
        sentence: `A text is written in quotes: ${quoted(value)}.`,
        query: replaced(query, { from: next.from, to: next.from + value.length }, quoted(value)),
      };
    }
  }
  return undefined;
};

/** `| line_format {{.msg}}`. */
export const unquotedTemplate: MistakeRule = (query, tokens) => {
  const at = tokens.findIndex(
    ({ text }, i) =>
      ['pattern', 'regexp', 'line_format'].includes(text) &&
      tokens[i - 1]?.text === '|' &&
      tokens[i + 1] !== undefined &&
      !['string', 'open-string'].includes(tokens[i + 1].kind),
  );
  if (at === -1) return undefined;
  const { from } = tokens[at + 1];
  const text = /^[^|[]*/.exec(query.slice(from))![0].trim();
  return {
    sentence: `${tokens[at].text} needs ${NEEDS[tokens[at].text]}.`,
    query: text === '' ? undefined : replaced(query, { from, to: from + text.length }, quoted(text)),
  };
};

/** `{app="x"} || json`. */
export const doublePipe: MistakeRule = (query, tokens) => {
  const at = tokens.findIndex(({ text }, i) => text === '|' && tokens[i + 1]?.text === '|');
  if (at === -1) return undefined;
  return {
    sentence: 'One | separates the stages of a pipeline.',
    query: replaced(query, { from: tokens[at].from, to: tokens[at + 1].to }, '|'),
  };
};

/** `| where level="error"`: a comparison needs no word before it. */
export const filterWord: MistakeRule = (query, tokens) => {
  const word = tokens.find(
    ({ kind, text }, i) =>
      kind === 'word' &&
      ['where', 'filter', 'search'].includes(text.toLowerCase()) &&
      tokens[i - 1]?.text === '|' &&
      tokens[i + 1]?.kind === 'word',
  );
  if (word === undefined) return undefined;
  return {
    sentence: `A comparison after | filters without the word ${quotedPart(word.text)}.`,
    query: query.slice(0, word.from) + query.slice(word.to).trimStart(),
  };
};

/** `{app="x"} and level="error"`, `{app="x"} or {app="y"}`. */
export const joinedSelectors: MistakeRule = (query, tokens) => {
  const close = tokens.findIndex(({ text }) => text === '}');
  const word = tokens[close + 1];
  if (close === -1 || tokens[0].text !== '{' || !/^(?:and|or)$/i.test(word?.text ?? '')) return undefined;
  if (tokens[close + 2]?.text === '{') return severalSelectors(query);
  if (!/^and$/i.test(word.text) || !COMPARISONS.has(tokens[close + 3]?.text ?? '')) return undefined;
  return {
    sentence: 'A condition after a selector starts with |.',
    query: replaced(query, word, '|'),
  };
};

function severalSelectors(query: string) {
  const same = /^\s*\{\s*(\w+)\s*=\s*"([\w.-]+)"\s*\}\s*or\s*\{\s*\1\s*=\s*"([\w.-]+)"\s*\}\s*$/i.exec(query);
  return {
    sentence: 'A log query has one selector. A regular expression selects several values: {app=~"a|b"}.',
    query: same === null ? undefined : `{${same[1]}=~"${same[2]}|${same[3]}"}`,
  };
}

/** `| duration > 10 sec`, `| duration > 10sec`. */
export const unitOfValue: MistakeRule = (query, tokens) => {
  for (const [i, token] of tokens.entries()) {
    if (token.kind !== 'number' || !COMPARISONS.has(tokens[i - 1]?.text ?? '')) continue;
    const joined = /^([\d.]+)([a-z]{3,})$/i.exec(token.text);
    const next = tokens[i + 1];
    const unit = joined?.[2] ?? (next?.kind === 'word' ? next.text : '');
    const short = shortUnit(unit);
    if (short === undefined) continue;
    const whole = { from: token.from, to: joined === null ? next.to : token.to };
    return {
      sentence: `${quotedPart(query.slice(whole.from, whole.to))} is not a duration. Units are ms, s, m, h, d, w, and y, without spaces.`,
      query: replaced(query, whole, `${joined?.[1] ?? token.text}${short}`),
    };
  }
  return undefined;
};

/** `| status >= 500 and`, `| drop`, `| unwrap [5m]`. */
export const openEnd: MistakeRule = (query, tokens) => {
  const bare = tokens.find(
    ({ text }, i) =>
      text in NEEDS &&
      tokens[i - 1]?.text === '|' &&
      (tokens[i + 1] === undefined || ['|', '[', ')'].includes(tokens[i + 1].text)),
  );
  if (bare !== undefined) return { sentence: `${bare.text} needs ${NEEDS[bare.text]}.` };
  const last = tokens.at(-1);
  if (last === undefined || !OPEN_ENDS.has(last.text)) return undefined;
  const sentence = `The query ends after ${quotedPart(last.text)}, which needs something after it.`;
  for (let i = tokens.length - 1; i >= Math.max(1, tokens.length - MAX_DROPPED); i--) {
    const shorter = query.slice(0, tokens[i].from).trimEnd();
    if (isLogql(shorter)) return { sentence, query: shorter };
  }
  return { sentence };
};

/** `{app="x" level="y"}`, `{app:"x"}`. */
export const matcherMarks: MistakeRule = (query, tokens) => {
  const inside = inSelector(tokens);
  for (const [i, token] of tokens.entries()) {
    const before = tokens[i - 1];
    if (!inside[i] || !inside[i - 1]) continue;
    if (token.kind === 'word' && before.kind === 'string' && !/^(?:and|or)$/i.test(token.text)) {
      return {
        sentence: 'Matchers of a selector are separated by commas, and all of them apply.',
        query: inserted(query, before.to, ','),
      };
    }
    if (token.kind === 'string' && before.kind === 'word' && before.text.endsWith(':')) {
      return {
        sentence: 'A selector compares with = (equal), != (not equal), =~ or !~ (regular expression).',
        query: replaced(query, before, `${before.text.slice(0, -1)}=`),
      };
    }
  }
  return undefined;
};

/** First word of the stage that contains the token. */
function stageAt(tokens: readonly Token[], at: number): string {
  const pipe = tokens.findLastIndex(({ text }, i) => i < at && text === '|');
  return tokens[pipe + 1]?.text ?? '';
}

/** End of the text of a line filter that starts at a token: before the next stage, range or closing bracket. */
function endOfText(query: string, tokens: readonly Token[], at: number): number {
  const next = tokens.find(
    ({ kind, text }, i) =>
      i > at && kind === 'mark' && (LINE_OPERATORS.has(text) || ['|', '[', ')'].includes(text)),
  );
  return query.slice(0, next?.from ?? query.length).trimEnd().length;
}
