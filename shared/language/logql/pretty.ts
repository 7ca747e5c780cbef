/**
 * Layout of format_query (docs/dev/logql-semantics.md#layout): a node whose canonical text exceeds 100 bytes is split over
 * lines, with two spaces per level.
 *
 * Difference D6: the output reads back as the same tree. Therefore `or` alternatives and necessary
 * parentheses are preserved, and no line ends in a space. In all other cases the text is the reference's.
 */
import { formatPrometheusDuration } from '../../base/model/duration.ts';
import { quote } from '../../base/model/quote.ts';
import type { BinaryExpr, BinaryOp, Expr, LogExpr, LogRange } from './ast.ts';
import { formatSelector, formatStage, unwrapTexts } from './format-log.ts';
import { formatGo } from './format-number.ts';
import { prettyOffsetText } from './format-values.ts';
import { formatExpr, groupingText, matchingText, type Texts } from './printer.ts';

const MAX_LINE_BYTES = 100;
const UTF8_BYTES_PER_UNIT = 3;

/**
 * Output buffer. Its pieces are joined once, because joining at every level would copy deep queries often.
 */
interface Writer {
  readonly pieces: string[];
  /** Canonical texts of nodes. */
  readonly texts: Texts;
}

/** Formats the query over several lines. */
export function prettyPrint(expr: Expr): string {
  const writer: Writer = { pieces: [], texts: new Map() };
  write(writer, expr, 0);
  return writer.pieces.join('');
}

function indent(level: number): string {
  return '  '.repeat(level);
}

function isLong(text: string): boolean {
  if (text.length > MAX_LINE_BYTES) return true;
  return text.length * UTF8_BYTES_PER_UNIT > MAX_LINE_BYTES && Buffer.byteLength(text) > MAX_LINE_BYTES;
}

function write(writer: Writer, expr: Expr, level: number): void {
  const { pieces, texts } = writer;
  const text = formatExpr(expr, texts);
  if (!isLong(text)) {
    pieces.push(indent(level) + text);
    return;
  }
  switch (expr.kind) {
    case 'log':
      writeLog(writer, expr, level);
      break;
    case 'rangeAggregation':
      open(writer, expr.op, expr.parameter === undefined ? undefined : formatGo(expr.parameter), level);
      writeRange(writer, expr.range, level + 1);
      pieces.push(`\n${indent(level)})${groupingText(expr.grouping, ', ')}`);
      break;
    case 'vectorAggregation':
      open(writer, `${expr.op}${groupingText(expr.grouping, ', ')}`, expr.parameter?.toFixed(0), level);
      write(writer, expr.expr, level + 1);
      pieces.push(`\n${indent(level)})`);
      break;
    case 'labelReplace':
      open(writer, 'label_replace', undefined, level);
      write(writer, expr.expr, level + 1);
      for (const argument of [expr.destination, expr.replacement, expr.source, expr.regex]) {
        pieces.push(`,\n${indent(level + 1)}${quote(argument)}`);
      }
      pieces.push(`\n${indent(level)})`);
      break;
    case 'binary':
      writeBinary(writer, expr, level);
      break;
    default:
      pieces.push(indent(level) + text);
  }
}

function open({ pieces }: Writer, name: string, parameter: string | undefined, level: number): void {
  pieces.push(`${indent(level)}${name}(\n`);
  if (parameter !== undefined) pieces.push(`${indent(level + 1)}${parameter},\n`);
}

/** Writes one line per stage. Consecutive line filters form one stage if they fit on one line. */
function writeLog({ pieces }: Writer, { selector, stages }: LogExpr, level: number): void {
  pieces.push(indent(level) + formatSelector(selector));
  const start = `\n${indent(level + 1)}`;
  for (let at = 0; at < stages.length; ) {
    let end = at + 1;
    if (stages[at].kind === 'lineFilter') while (stages[end]?.kind === 'lineFilter') end++;
    const lines = stages.slice(at, end).map(formatStage);
    const group = lines.join(' ');
    // The reference does not indent decolorize.
    if (stages[at].kind === 'decolorize') pieces.push(`\n${group}`);
    else pieces.push(start, isLong(group) ? lines.join(start) : group);
    at = end;
  }
}

function writeRange(writer: Writer, { log, unwrap, rangeNs, offsetNs }: LogRange, level: number): void {
  write(writer, log, level);
  for (const text of unwrap === undefined ? [] : unwrapTexts(unwrap)) {
    writer.pieces.push(`\n${indent(level + 1)}${text}`);
  }
  writer.pieces.push(` [${formatPrometheusDuration(rangeNs)}]${prettyOffsetText(offsetNs)}`);
}

function writeBinary(writer: Writer, expr: BinaryExpr, level: number): void {
  const { pieces } = writer;
  const { op, bool, matching } = expr;
  writeOperand(writer, expr, 'left', level + 1);
  const index = pieces.push('') - 1;
  writeOperand(writer, expr, 'right', level + 1);
  const clause =
    matching === undefined ? '' : ` ${matchingText(matching, ', ', pieces[index + 1].trimStart())}`;
  pieces[index] = `\n${indent(level)}${op}${bool ? ' bool' : ''}${clause}\n`;
}

const LEVELS: Readonly<Record<BinaryOp, number>> = {
  or: 1,
  and: 2,
  unless: 2,
  '==': 3,
  '!=': 3,
  '<': 3,
  '<=': 3,
  '>': 3,
  '>=': 3,
  '+': 4,
  '-': 4,
  '*': 5,
  '/': 5,
  '%': 5,
  '^': 6,
};

function writeOperand(writer: Writer, expr: BinaryExpr, side: 'left' | 'right', level: number): void {
  const node = expr[side];
  const splits = node.kind === 'binary' && isLong(formatExpr(node, writer.texts));
  if (!splits || bindsWithout(expr.op, node.op, side)) {
    write(writer, node, level);
    return;
  }
  writer.pieces.push(`${indent(level)}(\n`);
  write(writer, node, level + 1);
  writer.pieces.push(`\n${indent(level)})`);
}

/** Returns whether an operation reads back as that operand without parentheses. */
function bindsWithout(outer: BinaryOp, inner: BinaryOp, side: 'left' | 'right'): boolean {
  if (LEVELS[inner] !== LEVELS[outer]) return LEVELS[inner] > LEVELS[outer];
  return side === (outer === '^' ? 'right' : 'left');
}
