/**
 * Tokens of LogQL in the order in which the language declares them. The `expecting A or B` part of a syntax
 * error lists tokens in this order (docs/dev/logql-semantics.md#expected-tokens). A token's number is its index in `TOKENS`; 0 is
 * the end of the text. The lexer never returns MATCHERS and LABELS; they are listed because the order is
 * visible to clients.
 */
export const TOKENS = (
  '$end BYTES IDENTIFIER STRING NUMBER FUNCTION_FLAG DURATION RANGE MATCHERS LABELS EQ RE NRE NPA OPEN_BRACE ' +
  'CLOSE_BRACE OPEN_BRACKET CLOSE_BRACKET COMMA DOT PIPE_MATCH PIPE_EXACT PIPE_PATTERN OPEN_PARENTHESIS ' +
  'CLOSE_PARENTHESIS BY WITHOUT COUNT_OVER_TIME RATE RATE_COUNTER SUM SORT SORT_DESC AVG MAX MIN COUNT STDDEV ' +
  'STDVAR BOTTOMK TOPK APPROX_TOPK BYTES_OVER_TIME BYTES_RATE BOOL JSON REGEXP LOGFMT PIPE LINE_FMT LABEL_FMT ' +
  'UNWRAP AVG_OVER_TIME SUM_OVER_TIME MIN_OVER_TIME MAX_OVER_TIME STDVAR_OVER_TIME STDDEV_OVER_TIME ' +
  'QUANTILE_OVER_TIME BYTES_CONV DURATION_CONV DURATION_SECONDS_CONV FIRST_OVER_TIME LAST_OVER_TIME ' +
  'ABSENT_OVER_TIME VECTOR LABEL_REPLACE UNPACK OFFSET PATTERN IP ON IGNORING GROUP_LEFT GROUP_RIGHT DECOLORIZE ' +
  'DROP KEEP OR AND UNLESS CMP_EQ NEQ LT LTE GT GTE ADD SUB MUL DIV MOD POW'
).split(' ');

const NUMBER_OF = new Map(TOKENS.map((name, i) => [name, i]));

/** Returns the number of a token by its name. */
export function tokenNumber(name: string): number {
  const number = NUMBER_OF.get(name);
  if (number === undefined) throw new Error(`unknown token ${name}`);
  return number;
}

function numbered(pairs: readonly (readonly [string, string])[]): ReadonlyMap<string, number> {
  return new Map(pairs.map(([text, name]) => [text, tokenNumber(name)]));
}

/** One- and two-character operators. */
export const OPERATORS = numbered([
  [',', 'COMMA'],
  ['.', 'DOT'],
  ['{', 'OPEN_BRACE'],
  ['}', 'CLOSE_BRACE'],
  ['[', 'OPEN_BRACKET'],
  [']', 'CLOSE_BRACKET'],
  ['(', 'OPEN_PARENTHESIS'],
  [')', 'CLOSE_PARENTHESIS'],
  ['=', 'EQ'],
  ['!=', 'NEQ'],
  ['=~', 'RE'],
  ['!~', 'NRE'],
  ['!>', 'NPA'],
  ['|=', 'PIPE_EXACT'],
  ['|~', 'PIPE_MATCH'],
  ['|>', 'PIPE_PATTERN'],
  ['|', 'PIPE'],
  ['==', 'CMP_EQ'],
  ['>', 'GT'],
  ['>=', 'GTE'],
  ['<', 'LT'],
  ['<=', 'LTE'],
  ['+', 'ADD'],
  ['-', 'SUB'],
  ['*', 'MUL'],
  ['/', 'DIV'],
  ['%', 'MOD'],
  ['^', 'POW'],
]);

/** Words that are always reserved, in lower case. */
export const KEYWORDS = numbered([
  ['by', 'BY'],
  ['without', 'WITHOUT'],
  ['bool', 'BOOL'],
  ['offset', 'OFFSET'],
  ['on', 'ON'],
  ['ignoring', 'IGNORING'],
  ['group_left', 'GROUP_LEFT'],
  ['group_right', 'GROUP_RIGHT'],
  ['or', 'OR'],
  ['and', 'AND'],
  ['unless', 'UNLESS'],
  ['json', 'JSON'],
  ['regexp', 'REGEXP'],
  ['logfmt', 'LOGFMT'],
  ['unpack', 'UNPACK'],
  ['pattern', 'PATTERN'],
  ['line_format', 'LINE_FMT'],
  ['label_format', 'LABEL_FMT'],
  ['decolorize', 'DECOLORIZE'],
  ['drop', 'DROP'],
  ['keep', 'KEEP'],
  ['unwrap', 'UNWRAP'],
]);

/** Words that are reserved only before a parenthesis (or `by (` and `without (`), in lower case. */
export const FUNCTIONS = numbered([
  ...(
    'count_over_time rate rate_counter bytes_over_time bytes_rate avg_over_time sum_over_time min_over_time ' +
    'max_over_time stdvar_over_time stddev_over_time quantile_over_time first_over_time last_over_time ' +
    'absent_over_time sum avg count max min stddev stdvar bottomk topk sort sort_desc approx_topk vector ' +
    'label_replace ip'
  )
    .split(' ')
    .map(word => [word, word.toUpperCase()] as const),
  ['bytes', 'BYTES_CONV'],
  ['duration', 'DURATION_CONV'],
  ['duration_seconds', 'DURATION_SECONDS_CONV'],
]);

/** Text of each token in error messages: operators and plain keywords by their text, all others by name. */
export const TOKEN_TEXTS: readonly string[] = (() => {
  const texts = [...TOKENS];
  for (const table of [OPERATORS, KEYWORDS]) for (const [text, number] of table) texts[number] = text;
  texts[tokenNumber('IP')] = 'ip';
  texts[tokenNumber('LABEL_REPLACE')] = 'label_replace';
  return texts;
})();
