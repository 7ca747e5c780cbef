/**
 * Grammar of LogQL as data (docs/dev/logql-semantics.md#grammar). `scripts/make-logql-tables.ts` generates `tables.ts` from
 * it; the running program reads only the tables. One rule per line: `name : symbols = action`, upper case for
 * tokens.
 *
 * Pitfall: do not tidy the grammar. It is ambiguous on purpose, and conflicts are resolved as in yacc (shift
 * first, then the earlier rule). That gives `a b or c` and `|= "a" or "b"` their meaning. The `expecting ...`
 * lists of error messages depend on the division into rules.
 */
export const START = 'query';

/**
 * Binary operators from the loosest to the tightest. Comma and juxtaposition deliberately have no precedence.
 */
export const PRECEDENCE: readonly { readonly side: 'left' | 'right'; readonly tokens: string }[] = [
  { side: 'left', tokens: 'OR' },
  { side: 'left', tokens: 'AND UNLESS' },
  { side: 'left', tokens: 'CMP_EQ NEQ LT LTE GT GTE' },
  { side: 'left', tokens: 'ADD SUB' },
  { side: 'left', tokens: 'MUL DIV MOD' },
  { side: 'right', tokens: 'POW' },
];

const BINARY_TOKENS = PRECEDENCE.flatMap(level => level.tokens.split(' '));
const RANGE_OPS =
  'COUNT_OVER_TIME RATE RATE_COUNTER BYTES_OVER_TIME BYTES_RATE AVG_OVER_TIME SUM_OVER_TIME MIN_OVER_TIME ' +
  'MAX_OVER_TIME STDVAR_OVER_TIME STDDEV_OVER_TIME QUANTILE_OVER_TIME FIRST_OVER_TIME LAST_OVER_TIME ' +
  'ABSENT_OVER_TIME';
const VECTOR_OPS = 'SUM AVG COUNT MAX MIN STDDEV STDVAR BOTTOMK TOPK SORT SORT_DESC APPROX_TOPK';

function each(tokens: string, rule: (token: string) => string): string {
  return tokens.split(' ').map(rule).join('\n');
}

/** All accepted orders of selector S, pipeline P, unwrap U, range R and offset O (docs/dev/logql-semantics.md#order-of-range-offset-and-unwrap). */
const RANGE_FORMS = [
  'S R',
  'S R O',
  '( S ) R',
  '( S ) R O',
  'S R U',
  'S R O U',
  '( S ) R U',
  '( S ) R O U',
  'S U R',
  'S U R O',
  '( S U ) R',
  '( S U ) R O',
  'S P R',
  'S P R O',
  '( S P ) R',
  '( S P ) R O',
  'S P U R',
  'S P U R O',
  '( S P U ) R',
  '( S P U ) R O',
  'S R P',
  'S R O P',
  'S R P U',
  'S R O P U',
];
const RANGE_SYMBOLS: Record<string, string> = {
  S: 'selector',
  P: 'pipeline',
  U: 'unwrap',
  R: 'RANGE',
  O: 'offset',
  '(': 'OPEN_PARENTHESIS',
  ')': 'CLOSE_PARENTHESIS',
};

function rangeRule(form: string): string {
  const symbols = form.split(' ').map(symbol => RANGE_SYMBOLS[symbol]);
  return `logRange : ${symbols.join(' ')} = logRange`;
}

export const RULES = `
query : expr = same
expr : logExpr = same
expr : metricExpr = same

logExpr : selector = log
logExpr : selector pipeline = logPipeline
logExpr : OPEN_PARENTHESIS logExpr CLOSE_PARENTHESIS = second

metricExpr : rangeAggregation = same
metricExpr : vectorAggregation = same
metricExpr : binary = same
metricExpr : literal = same
metricExpr : labelReplace = same
metricExpr : vector = same
metricExpr : OPEN_PARENTHESIS metricExpr CLOSE_PARENTHESIS = second

${RANGE_FORMS.map(rangeRule).join('\n')}
logRange : OPEN_PARENTHESIS logRange CLOSE_PARENTHESIS = second

unwrap : PIPE UNWRAP IDENTIFIER = unwrap
unwrap : PIPE UNWRAP conversion OPEN_PARENTHESIS IDENTIFIER CLOSE_PARENTHESIS = unwrapConversion
unwrap : unwrap PIPE labelFilter = unwrapFilter
${each('BYTES_CONV DURATION_CONV DURATION_SECONDS_CONV', token => `conversion : ${token} = same`)}

rangeAggregation : rangeOp OPEN_PARENTHESIS logRange CLOSE_PARENTHESIS = rangeAggregation
rangeAggregation : rangeOp OPEN_PARENTHESIS NUMBER COMMA logRange CLOSE_PARENTHESIS = rangeAggregationParameter
rangeAggregation : rangeOp OPEN_PARENTHESIS logRange CLOSE_PARENTHESIS grouping = rangeAggregationGrouping
rangeAggregation : rangeOp OPEN_PARENTHESIS NUMBER COMMA logRange CLOSE_PARENTHESIS grouping = rangeAggregationBoth

vectorAggregation : vectorOp OPEN_PARENTHESIS metricExpr CLOSE_PARENTHESIS = vectorAggregation
vectorAggregation : vectorOp grouping OPEN_PARENTHESIS metricExpr CLOSE_PARENTHESIS = vectorAggregationBefore
vectorAggregation : vectorOp OPEN_PARENTHESIS metricExpr CLOSE_PARENTHESIS grouping = vectorAggregationAfter
vectorAggregation : vectorOp OPEN_PARENTHESIS NUMBER COMMA metricExpr CLOSE_PARENTHESIS = vectorParameter
vectorAggregation : vectorOp OPEN_PARENTHESIS NUMBER COMMA metricExpr CLOSE_PARENTHESIS grouping = vectorParameterAfter
vectorAggregation : vectorOp grouping OPEN_PARENTHESIS NUMBER COMMA metricExpr CLOSE_PARENTHESIS = vectorParameterBefore

labelReplace : LABEL_REPLACE OPEN_PARENTHESIS metricExpr COMMA STRING COMMA STRING COMMA STRING COMMA STRING CLOSE_PARENTHESIS = labelReplace
vector : VECTOR OPEN_PARENTHESIS NUMBER CLOSE_PARENTHESIS = vector

${BINARY_TOKENS.map(token => `binary : expr ${token} modifiers expr = binary`).join('\n')}
modifiers : bool = same
modifiers : matching = same
modifiers : matching GROUP_LEFT = groupBare
modifiers : matching GROUP_LEFT OPEN_PARENTHESIS CLOSE_PARENTHESIS = groupBare
modifiers : matching GROUP_LEFT OPEN_PARENTHESIS labels CLOSE_PARENTHESIS = groupLabels
modifiers : matching GROUP_RIGHT = groupBare
modifiers : matching GROUP_RIGHT OPEN_PARENTHESIS CLOSE_PARENTHESIS = groupBare
modifiers : matching GROUP_RIGHT OPEN_PARENTHESIS labels CLOSE_PARENTHESIS = groupLabels
bool : = boolAbsent
bool : BOOL = boolPresent
matching : bool ON OPEN_PARENTHESIS labels CLOSE_PARENTHESIS = matchingLabels
matching : bool ON OPEN_PARENTHESIS CLOSE_PARENTHESIS = matchingBare
matching : bool IGNORING OPEN_PARENTHESIS labels CLOSE_PARENTHESIS = matchingLabels
matching : bool IGNORING OPEN_PARENTHESIS CLOSE_PARENTHESIS = matchingBare

grouping : BY OPEN_PARENTHESIS labels CLOSE_PARENTHESIS = groupingLabels
grouping : WITHOUT OPEN_PARENTHESIS labels CLOSE_PARENTHESIS = groupingLabels
grouping : BY OPEN_PARENTHESIS CLOSE_PARENTHESIS = groupingBare
grouping : WITHOUT OPEN_PARENTHESIS CLOSE_PARENTHESIS = groupingBare
labels : IDENTIFIER = list
labels : labels COMMA IDENTIFIER = listComma

selector : OPEN_BRACE matchers CLOSE_BRACE = selector
selector : OPEN_BRACE CLOSE_BRACE = selectorEmpty
matchers : matcher = list
matchers : matchers COMMA matcher = listComma
${each('EQ NEQ RE NRE', token => `matcher : IDENTIFIER ${token} STRING = matcher`)}

pipeline : stage = pipeline
pipeline : pipeline stage = pipelineMore
stage : lineFilters = same
stage : PIPE parser = stage
stage : PIPE labelFilter = labelFilterStage
stage : PIPE lineFormat = stage
stage : PIPE labelFormat = stage
stage : PIPE DECOLORIZE = decolorize
stage : PIPE drop = stage
stage : PIPE keep = stage

${each('PIPE_EXACT PIPE_MATCH PIPE_PATTERN NEQ NRE NPA', token => `filterOp : ${token} = same`)}
orOperand : STRING = orText
orOperand : IP OPEN_PARENTHESIS STRING CLOSE_PARENTHESIS = orIp
orOperand : STRING OR orOperand = orTextChain
lineFilter : filterOp STRING = lineFilter
lineFilter : filterOp IP OPEN_PARENTHESIS STRING CLOSE_PARENTHESIS = lineFilterIp
lineFilter : lineFilter OR orOperand = lineFilterOr
lineFilters : lineFilter = lineFilters
lineFilters : lineFilters lineFilter = lineFiltersMore

parser : JSON = json
parser : JSON extractions = jsonExtractions
parser : LOGFMT = logfmt
parser : LOGFMT flags = logfmtFlags
parser : LOGFMT extractions = logfmtExtractions
parser : LOGFMT flags extractions = logfmtBoth
parser : REGEXP STRING = regexp
parser : PATTERN STRING = pattern
parser : UNPACK = unpack
flags : FUNCTION_FLAG = list
flags : flags FUNCTION_FLAG = listNext
extractions : extraction = list
extractions : extractions COMMA extraction = listComma
extraction : IDENTIFIER = extractionBare
extraction : IDENTIFIER EQ STRING = extraction

lineFormat : LINE_FMT STRING = lineFormat
labelFormat : LABEL_FMT formatItems = labelFormat
formatItems : formatItem = list
formatItems : formatItems COMMA formatItem = listComma
formatItem : IDENTIFIER EQ IDENTIFIER = formatRename
formatItem : IDENTIFIER EQ STRING = formatTemplate
drop : DROP namedItems = drop
keep : KEEP namedItems = keep
namedItems : namedItem = list
namedItems : namedItems COMMA namedItem = listComma
namedItem : IDENTIFIER = namedName
namedItem : matcher = namedMatcher

labelFilter : matcher = stringFilter
labelFilter : IDENTIFIER EQ IP OPEN_PARENTHESIS STRING CLOSE_PARENTHESIS = ipFilter
labelFilter : IDENTIFIER NEQ IP OPEN_PARENTHESIS STRING CLOSE_PARENTHESIS = ipFilter
${each('GT GTE LT LTE NEQ EQ CMP_EQ', token =>
  ['DURATION', 'BYTES', 'literal']
    .map(value => `labelFilter : IDENTIFIER ${token} ${value} = ${value.toLowerCase()}Filter`)
    .join('\n'),
)}
labelFilter : OPEN_PARENTHESIS labelFilter CLOSE_PARENTHESIS = second
labelFilter : labelFilter labelFilter = filterAndNext
labelFilter : labelFilter AND labelFilter = filterAnd
labelFilter : labelFilter COMMA labelFilter = filterAnd
labelFilter : labelFilter OR labelFilter = filterOr

literal : NUMBER = literal
literal : ADD NUMBER = literalPlus
literal : SUB NUMBER = literalMinus
offset : OFFSET DURATION = offset

${each(RANGE_OPS, token => `rangeOp : ${token} = same`)}
${each(VECTOR_OPS, token => `vectorOp : ${token} = same`)}
`;
