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
  overRange('rate', 'entries a second'),
  overRange('count_over_time', 'entries in the range'),
  overRange('bytes_rate', 'bytes a second'),
  overRange('bytes_over_time', 'bytes in the range'),
  overRange('absent_over_time', '1 if there is no entry'),
  overRange('sum_over_time', 'sum of unwrapped values'),
  overRange('avg_over_time', 'mean of unwrapped values'),
  overRange('min_over_time', 'least unwrapped value'),
  overRange('max_over_time', 'greatest unwrapped value'),
  overRange('first_over_time', 'first unwrapped value'),
  overRange('last_over_time', 'last unwrapped value'),
  overRange('stddev_over_time', 'standard deviation of unwrapped values'),
  overRange('stdvar_over_time', 'variance of unwrapped values'),
  {
    text: 'quantile_over_time',
    does: 'quantile of unwrapped values',
    writes: 'quantile_over_time(0.95, ¦[$__auto])',
  },
  overRange('rate_counter', 'increase of a counter a second'),
];

export const AGGREGATIONS: readonly Word[] = [
  overVector('sum', 'sum over series'),
  overVector('avg', 'mean over series'),
  overVector('min', 'least of series'),
  overVector('max', 'greatest of series'),
  overVector('count', 'how many series'),
  overVector('stddev', 'standard deviation over series'),
  overVector('stdvar', 'variance over series'),
  { text: 'topk', does: 'series with the greatest values', writes: 'topk(10, ¦)' },
  { text: 'bottomk', does: 'series with the least values', writes: 'bottomk(10, ¦)' },
  overVector('sort', 'in ascending order'),
  overVector('sort_desc', 'in descending order'),
];

export const STAGES: readonly Word[] = [
  { text: 'json', does: 'fields of a JSON line become labels' },
  { text: 'logfmt', does: 'fields of a logfmt line become labels' },
  { text: 'pattern', does: 'parts of a line become labels', writes: 'pattern "<¦>"' },
  { text: 'regexp', does: 'named groups become labels', writes: 'regexp "(?P<¦>)"' },
  { text: 'unpack', does: 'what pack packed' },
  { text: 'line_format', does: 'another text for the line', writes: 'line_format "{{.¦}}"' },
  { text: 'label_format', does: 'other names and values of labels', writes: 'label_format ¦' },
  { text: 'unwrap', does: 'the value of a label as a number', writes: 'unwrap ¦' },
  { text: 'decolorize', does: 'takes ANSI colours away' },
  { text: 'keep', does: 'keeps these labels alone', writes: 'keep ¦' },
  { text: 'drop', does: 'takes labels away', writes: 'drop ¦' },
];

export const LINE_FILTERS: readonly Word[] = [
  { text: '|=', does: 'the line contains', writes: '|= "¦"' },
  { text: '!=', does: 'the line does not contain', writes: '!= "¦"' },
  { text: '|~', does: 'the line matches', writes: '|~ "¦"' },
  { text: '!~', does: 'the line does not match', writes: '!~ "¦"' },
  { text: '|>', does: 'the line fits a pattern', writes: '|> "<_>¦<_>"' },
];

export const DURATIONS: readonly string[] = ['1m', '5m', '15m', '30m', '1h', '6h', '1d'];
