/**
 * From the stages of a query to what a line as stored must hold for its entry to survive them. Line filters count wherever
 * they stand before the line is changed: every stage between only drops entries or sets labels. A filter on a label
 * that can only come from the line counts too: the value then stands in the line, unless escapes hide it.
 *
 * What a reader would get wrong: `| json | level="error"` reads the stream's label `level` where there is one, and
 * entries' metadata before the line; so label filters count only for names that the caller knows to be neither.
 */
import type { LabelFilter, LineFilterStage, LineOperand, Stage } from '../logql/ast.ts';
import { parsePattern } from '../pipeline/pattern-syntax.ts';
import { PageFlag } from './filter-layout.ts';
import { regexRequirement } from './regex-literals.ts';
import { allOf, anyOf, anything, containing, type Requirement } from './requirement.ts';

export interface LineRequirementOptions {
  /** False where the name is no label of the streams that are read and no metadata name of their entries. */
  readonly mayBeStored?: (name: string) => boolean;
}

/** Throws an Error with the words of Go for an invalid regular expression. */
export function lineRequirement(
  stages: readonly Stage[],
  { mayBeStored = () => true }: LineRequirementOptions = {},
): Requirement {
  const parts: Requirement[] = [];
  // Labels that are not stored hold pieces of the line, one or more parsers having run.
  let labelsAreOfTheLine = false;
  let labelsAreKnown = true;
  for (const stage of stages) {
    switch (stage.kind) {
      case 'lineFilter':
        parts.push(lineFilterRequirement(stage));
        break;
      case 'labelFilter':
        if (labelsAreOfTheLine && labelsAreKnown) {
          parts.push(labelFilterRequirement(stage.filter, mayBeStored));
        }
        break;
      case 'json':
      case 'logfmt':
        // An expression may name a whole object, which is written anew.
        if (stage.extractions.length > 0) labelsAreKnown = false;
        labelsAreOfTheLine = true;
        break;
      case 'regexp':
      case 'pattern':
        labelsAreOfTheLine = true;
        break;
      case 'labelFormat':
      case 'drop':
      case 'keep':
        labelsAreKnown = false;
        break;
      case 'lineFormat':
      case 'unpack':
      case 'decolorize':
        return allOf(parts);
    }
  }
  return allOf(parts);
}

function lineFilterRequirement({ op, operand, alternatives }: LineFilterStage): Requirement {
  if (op !== '|=' && op !== '|~' && op !== '|>') return anything;
  return anyOf([operand, ...alternatives].map(item => operandRequirement(op, item)));
}

const singleIpv4 = /^\d{1,3}(\.\d{1,3}){3}$/;

function operandRequirement(op: '|=' | '|~' | '|>', { kind, value }: LineOperand): Requirement {
  // An address of four numbers has one spelling, without leading zeros; ranges and longer addresses have many.
  if (kind === 'ip') return singleIpv4.test(value) ? containing(Buffer.from(value)) : anything;
  switch (op) {
    case '|=':
      return containing(Buffer.from(value));
    case '|~':
      return regexRequirement(value);
    case '|>':
      return allOf(
        parsePattern(value).map(node => (node.kind === 'literal' ? containing(node.bytes) : anything)),
      );
  }
}

function labelFilterRequirement(filter: LabelFilter, mayBeStored: (name: string) => boolean): Requirement {
  switch (filter.kind) {
    case 'and':
      return allOf([
        labelFilterRequirement(filter.left, mayBeStored),
        labelFilterRequirement(filter.right, mayBeStored),
      ]);
    case 'or':
      return anyOf([
        labelFilterRequirement(filter.left, mayBeStored),
        labelFilterRequirement(filter.right, mayBeStored),
      ]);
    case 'string': {
      const { name, op, value } = filter.matcher;
      if (op !== '=' || name.startsWith('__') || mayBeStored(name)) return anything;
      return valueRequirement(value);
    }
    default:
      return anything;
  }
}

/** A broken byte of a value reads as a space, so the value is asked for piece by piece. */
const notVerbatim = /[ \ufffd]+/;

function valueRequirement(value: string): Requirement {
  return allOf(value.split(notVerbatim).map(piece => containing(Buffer.from(piece), PageFlag.backslash)));
}
