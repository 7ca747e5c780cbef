/** The stages of a query on one entry, one after the other as they are written (differences D3 and D4). */
import type { LabelFormatItem, NamedItem, Stage } from '../../../shared/language/logql/ast.ts';
import { type Bytes, toBytes } from './bytes.ts';
import { parsePattern, parseRegexp } from './captures.ts';
import { compileJsonExpressions, parseJson, unpack } from './json.ts';
import { matches, passesLabelFilter } from './label-filters.ts';
import { EntryLabels, ERROR, ERROR_DETAILS, type Hints, type LabelMap, PRESERVE_ERROR } from './labels.ts';
import { passesLineFilter } from './line-filters.ts';
import { parseLogfmt } from './logfmt.ts';
import { type Template, TemplateFailure, templateOf } from './templates.ts';

/** A stored entry. */
export interface OracleEntry {
  readonly timeNs: bigint;
  readonly line: Bytes;
  readonly stream: LabelMap;
  readonly metadata: LabelMap;
}

interface Passed {
  readonly labels: EntryLabels;
  readonly line: Bytes;
}

interface PipelineOptions {
  readonly hints?: Hints | undefined;
  /** Parsers do not run, because no extracted label is visible. */
  readonly skipsParsers?: boolean;
}

type Step = (line: Bytes, labels: EntryLabels) => Bytes | undefined;

/** Undefined for an entry that a stage drops. */
export function compilePipeline(
  stages: readonly Stage[],
  { hints, skipsParsers = false }: PipelineOptions = {},
): (entry: OracleEntry) => Passed | undefined {
  const steps = stages.filter(stage => !(skipsParsers && isParser(stage))).map(compileStage);
  return ({ line, stream, metadata }) => {
    const labels = new EntryLabels(stream, metadata, hints);
    let current: Bytes | undefined = line;
    for (const step of steps) {
      current = step(current, labels);
      if (current === undefined) return undefined;
    }
    return { labels, line: current };
  };
}

export function isParser({ kind }: Stage): boolean {
  return ['json', 'logfmt', 'regexp', 'pattern', 'unpack'].includes(kind);
}

function compileStage(stage: Stage): Step {
  switch (stage.kind) {
    case 'lineFilter':
      return line => (passesLineFilter(stage, line) ? line : undefined);
    case 'labelFilter':
      return (line, labels) => (passesLabelFilter(stage.filter, labels) ? line : undefined);
    case 'json':
      if (stage.extractions.length === 0) return parser(parseJson);
      return parser(compileJsonExpressions(stage.extractions));
    case 'logfmt':
      return parser((line, labels) => parseLogfmt(stage, line, labels));
    case 'regexp':
      return parser((line, labels) => parseRegexp(stage.pattern, line, labels));
    case 'pattern':
      return parser((line, labels) => parsePattern(stage.pattern, line, labels));
    case 'unpack':
      return unpack;
    case 'decolorize':
      return line => line.replaceAll(COLORS, '');
    case 'drop':
      return parser((_, labels) => drop(stage.items, labels));
    case 'keep':
      return parser((_, labels) => keep(stage.items, labels));
    case 'lineFormat':
      return lineFormat(templateOf(stage.template, 'line'));
    case 'labelFormat':
      return labelFormat(stage.items);
  }
}

function parser(parse: (line: Bytes, labels: EntryLabels) => void): Step {
  return (line, labels) => {
    parse(line, labels);
    return line;
  };
}

/** ANSI sequences (docs/dev/logql-semantics.md#drop-keep-and-decolorize); U+009B is two bytes. */
const COLORS =
  /(?:\x1b|\xc2\x9b)[[\]()#;?]*(?:(?:[a-zA-Z\d]*(?:;[a-zA-Z\d]*)*)?\x07|(?:\d{1,4}(?:;\d{0,4})*)?[\dA-PRZcf-ntqry=><~])/g;

function drop(items: readonly NamedItem[], labels: EntryLabels): void {
  for (const item of items) {
    const name = toBytes(item.kind === 'name' ? item.name : item.matcher.name);
    const value = name === ERROR ? labels.error : name === ERROR_DETAILS ? labels.details : labels.get(name);
    if (item.kind === 'matcher' ? !matches(item.matcher, value ?? '') : value === undefined) continue;
    if (name === ERROR) labels.error = '';
    else if (name === ERROR_DETAILS) labels.details = '';
    else labels.delete(name);
  }
}

function keep(items: readonly NamedItem[], labels: EntryLabels): void {
  for (const name of labels.names) {
    if (name === PRESERVE_ERROR) continue;
    const isKept = items.some(item => {
      if (item.kind === 'name') return toBytes(item.name) === name;
      return toBytes(item.matcher.name) === name && matches(item.matcher, labels.get(name)!);
    });
    if (!isKept) labels.delete(name);
  }
}

function lineFormat(template: Template): Step {
  return (line, labels) => {
    if (template.field !== undefined) return labels.get(template.field) ?? '';
    try {
      return template.render({ labels: labels.all, line });
    } catch (error) {
      fail(labels, error);
      return line;
    }
  };
}

function fail(labels: EntryLabels, error: unknown): void {
  if (!(error instanceof TemplateFailure)) throw error;
  labels.error = 'TemplateFormatErr';
  labels.details = error.message;
}

/** All templates see the labels as they were when the first one ran; if there were none, it is looked again. */
function labelFormat(items: readonly LabelFormatItem[]): Step {
  const compiled = items.map(item => ({
    item,
    template: item.kind === 'template' ? templateOf(item.template, 'label') : undefined,
  }));
  return (line, labels) => {
    let seen: ReadonlyMap<Bytes, Bytes> = new Map();
    for (const { item, template } of compiled) {
      const name = toBytes(item.name);
      if (item.kind === 'rename') {
        const value = labels.get(toBytes(item.source));
        // A label that is renamed to itself stays (difference D5).
        if (value === undefined || item.source === item.name) continue;
        labels.set(name, value);
        labels.delete(toBytes(item.source));
        continue;
      }
      if (seen.size === 0) seen = labels.all;
      try {
        labels.set(name, template!.render({ labels: seen, line }));
      } catch (error) {
        fail(labels, error);
      }
    }
    return line;
  };
}
