/** LogQL words that the editor offers, with descriptions. */
export interface Word {
  readonly text: string;
  readonly does: string;
  /** Text to insert, if it is longer than the word; `¦` marks the cursor position. */
  readonly writes?: string;
}

const overRange = (text: string, does: string): Word => ({ text, does, writes: `${text}(¦[$__auto])` });
const overVector = (text: string, does: string): Word => ({ text, does, writes: `${text}(¦)` });

export const RANGE_FUNCTIONS: readonly Word[] = [
  overRange('rate', 'entries per second'),
  overRange('count_over_time', 'entries in the range'),
  overRange('bytes_rate', 'bytes per second'),
  overRange('bytes_over_time', 'bytes in the range'),
  overRange('absent_over_time', '1 if there is no entry'),
  overRange('sum_over_time', 'sum of unwrapped values'),
  overRange('avg_over_time', 'mean of unwrapped values'),
  overRange('min_over_time', 'minimum of unwrapped values'),
  overRange('max_over_time', 'maximum of unwrapped values'),
  overRange('first_over_time', 'first unwrapped value'),
  overRange('last_over_time', 'last unwrapped value'),
  overRange('stddev_over_time', 'standard deviation of unwrapped values'),
  overRange('stdvar_over_time', 'variance of unwrapped values'),
  {
    text: 'quantile_over_time',
    does: 'quantile of unwrapped values',
    writes: 'quantile_over_time(0.95, ¦[$__auto])',
  },
  overRange('rate_counter', 'increase of a counter per second'),
];

export const AGGREGATIONS: readonly Word[] = [
  overVector('sum', 'sum over series'),
  overVector('avg', 'mean over series'),
  overVector('min', 'minimum over series'),
  overVector('max', 'maximum over series'),
  overVector('count', 'number of series'),
  overVector('stddev', 'standard deviation over series'),
  overVector('stdvar', 'variance over series'),
  { text: 'topk', does: 'series with the highest values', writes: 'topk(10, ¦)' },
  { text: 'bottomk', does: 'series with the lowest values', writes: 'bottomk(10, ¦)' },
  overVector('sort', 'sort in ascending order'),
  overVector('sort_desc', 'sort in descending order'),
];

export const STAGES: readonly Word[] = [
  { text: 'json', does: 'turn fields of a JSON line into labels' },
  { text: 'logfmt', does: 'turn fields of a logfmt line into labels' },
  { text: 'pattern', does: 'turn parts of a line into labels', writes: 'pattern "<¦>"' },
  { text: 'regexp', does: 'turn named groups into labels', writes: 'regexp "(?P<¦>)"' },
  { text: 'unpack', does: 'unpack labels that Promtail packed' },
  { text: 'line_format', does: 'rewrite the line', writes: 'line_format "{{.¦}}"' },
  { text: 'label_format', does: 'rename or rewrite labels', writes: 'label_format ¦' },
  { text: 'unwrap', does: 'use a label value as the number', writes: 'unwrap ¦' },
  { text: 'decolorize', does: 'remove ANSI colors' },
  { text: 'keep', does: 'keep only these labels', writes: 'keep ¦' },
  { text: 'drop', does: 'remove labels', writes: 'drop ¦' },
];

export const LINE_FILTERS: readonly Word[] = [
  { text: '|=', does: 'line contains', writes: '|= "¦"' },
  { text: '!=', does: 'line does not contain', writes: '!= "¦"' },
  { text: '|~', does: 'line matches a regular expression', writes: '|~ "¦"' },
  { text: '!~', does: 'line does not match a regular expression', writes: '!~ "¦"' },
  { text: '|>', does: 'line matches a pattern', writes: '|> "<_>¦<_>"' },
];

export const DURATIONS: readonly string[] = ['1m', '5m', '15m', '30m', '1h', '6h', '1d'];
