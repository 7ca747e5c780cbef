/**
 * Formats the canonical text of selectors, stages and label filters (docs/dev/logql-semantics.md#canonical-text, with difference
 * D6).
 */
import { formatGoDuration } from '../../base/model/duration.ts';
import { quote } from '../../base/model/quote.ts';
import type {
  Extraction,
  LabelFilter,
  LabelFormatItem,
  LineFilterStage,
  LineOperand,
  LogExpr,
  Matcher,
  NamedItem,
  Stage,
  Unwrap,
} from './ast.ts';
import { filterNumber, filterRegex, nameAfter, nameBefore, sizeText } from './format-values.ts';

function formatMatcher({ name, op, value }: Matcher): string {
  return `${nameBefore(name)}${op}${quote(value)}`;
}

/** Formats a selector: `{a="b", c=~"d"}`. */
export function formatSelector(matchers: readonly Matcher[]): string {
  return `{${matchers.map(formatMatcher).join(', ')}}`;
}

export function formatLog(log: LogExpr): string {
  return [formatSelector(log.selector), ...log.stages.map(formatStage)].join(' ');
}

/**
 * Formats one stage, with its leading `|` if it has one, as error messages show it (`stage '| json' : ...`).
 */
export function formatStage(stage: Stage): string {
  switch (stage.kind) {
    case 'lineFilter':
      return lineFilter(stage);
    case 'json':
      return `| json${extractions(stage.extractions)}`;
    case 'logfmt': {
      const flags = `${stage.strict ? ' --strict' : ''}${stage.keepEmpty ? ' --keep-empty' : ''}`;
      return `| logfmt${flags}${extractions(stage.extractions)}`;
    }
    case 'regexp':
      return `| regexp ${quote(stage.pattern)}`;
    case 'pattern':
      return `| pattern ${quote(stage.pattern)}`;
    case 'unpack':
      return '| unpack';
    case 'labelFilter':
      return `| ${formatLabelFilter(stage.filter)}`;
    case 'lineFormat':
      return `| line_format ${quote(stage.template)}`;
    case 'labelFormat':
      return `| label_format ${stage.items.map(formatItem).join(',')}`;
    case 'decolorize':
      return '| decolorize';
    case 'drop':
      return `| drop ${stage.items.map(namedItem).join(',')}`;
    case 'keep':
      return `| keep ${stage.items.map(namedItem).join(',')}`;
  }
}

function lineFilter({ op, operand, alternatives }: LineFilterStage): string {
  return `${op} ${[operand, ...alternatives].map(lineOperand).join(' or ')}`;
}

function lineOperand({ kind, value }: LineOperand): string {
  return kind === 'ip' ? `ip(${quote(value)})` : quote(value);
}

function extractions(list: readonly Extraction[]): string {
  if (list.length === 0) return '';
  return ` ${list.map(({ name, expression }) => `${nameBefore(name)}=${quote(expression)}`).join(',')}`;
}

function formatItem(item: LabelFormatItem): string {
  const target = `${nameBefore(item.name)}=`;
  return item.kind === 'rename' ? `${target}${nameAfter(item.source)}` : `${target}${quote(item.template)}`;
}

function namedItem(item: NamedItem): string {
  return item.kind === 'name' ? item.name : formatMatcher(item.matcher);
}

/** Formats a label filter: `( a="b" , c>5 )`. Combinations always have parentheses. */
export function formatLabelFilter(filter: LabelFilter): string {
  switch (filter.kind) {
    case 'string': {
      const { name, op, value } = filter.matcher;
      return op === '=~' ? `${nameBefore(name)}=~${filterRegex(value)}` : formatMatcher(filter.matcher);
    }
    case 'number':
      return `${nameBefore(filter.name)}${filter.op}${filterNumber(filter.value)}`;
    case 'duration':
      return `${nameBefore(filter.name)}${filter.op}${formatGoDuration(filter.ns)}`;
    case 'bytes':
      return `${nameBefore(filter.name)}${filter.op}${sizeText(filter.bytes)}`;
    case 'ip':
      return `${nameBefore(filter.name)}${filter.op}ip(${quote(filter.pattern)})`;
    case 'and':
      return `( ${formatLabelFilter(filter.left)} , ${formatLabelFilter(filter.right)} )`;
    case 'or':
      return `( ${formatLabelFilter(filter.left)} or ${formatLabelFilter(filter.right)} )`;
  }
}

/** Returns `| unwrap bytes(x)`, and one text for each filter after it. */
export function unwrapTexts({ label, conversion, filters }: Unwrap): string[] {
  const source = conversion === undefined ? label : `${conversion}(${label})`;
  return [`| unwrap ${source}`, ...filters.map(filter => `| ${formatLabelFilter(filter)}`)];
}
