/**
 * Checks a file of rule groups and reports every problem with its position, as editors and builds show it.
 */
import { isNode, LineCounter } from 'yaml';
import { messageOf } from '../../base/model/errors.ts';
import { parseQuery } from '../../language/logql/parse.ts';
import type { RuleGroup } from '../../storage/catalog/rule-group.ts';
import { type RulePath, type ShapeProblem, shapeProblems } from './rule-shape.ts';
import { MAX_ALIASES, parseRuleDocument, readRuleFile, repeatedKey, type YamlGroup } from './rule-yaml.ts';
import { type CheckTemplate, problemsOf, validateGroup } from './validate-group.ts';

interface FileProblem {
  /** Line number from 1. */
  readonly line: number;
  readonly message: string;
}

interface LintedFile {
  /** Namespace in the file; empty if the file does not name one. */
  readonly namespace: string;
  /** Empty if there are problems. */
  readonly groups: readonly RuleGroup[];
  /** Ordered by line. */
  readonly problems: readonly FileProblem[];
}

/** The store accepts such a rule but can never evaluate it. */
const LOG_QUERY = 'the expression is a log query; rules need a metric query';

/** Never throws. */
export function lintRuleFile(text: string, check: CheckTemplate): LintedFile {
  const lines = new LineCounter();
  const lineAt = (offset: number) => Math.max(1, lines.linePos(offset).line);
  try {
    const document = parseRuleDocument(text, lines);
    const [broken] = document.errors;
    if (broken !== undefined)
      return failed([{ line: lineAt(broken.pos[0]), message: firstLine(broken.message) }]);
    const repeated = repeatedKey(document);
    if (repeated !== undefined) {
      return failed([
        { line: lineAt(repeated.range?.[0] ?? 0), message: `duplicate key ${String(repeated)}` },
      ]);
    }
    const placed = ({ path, message }: ShapeProblem): FileProblem => ({ line: lineOf(path), message });
    const lineOf = (path: RulePath): number => {
      const node: unknown = document.getIn(path, true);
      if (isNode(node) && node.range) return lineAt(node.range[0]);
      // Uses the position that refers to an alias.
      return path.length === 0 ? 1 : lineOf(path.slice(0, -1));
    };
    const shape = shapeProblems(document.toJS({ maxAliasCount: MAX_ALIASES }) ?? {});
    if (shape.length > 0) return failed(shape.map(placed));
    const { namespace, groups } = readRuleFile(text);
    const problems = contentProblems(groups, check);
    if (problems.length > 0) return failed(problems.map(placed));
    return { namespace, groups: groups.map(group => validateGroup(group, 0, check)), problems: [] };
  } catch (error) {
    return failed([{ line: 1, message: messageOf(error) }]);
  }
}

function contentProblems(groups: readonly YamlGroup[], check: CheckTemplate): ShapeProblem[] {
  if (groups.length === 0) {
    return [{ path: [], message: 'no groups found; write them under "groups:"' }];
  }
  const seen = new Set<string>();
  return groups.flatMap((group, g) => {
    const path = ['groups', g];
    const problems: ShapeProblem[] = problemsOf(group, check).map(({ rule, message }) => ({
      path: rule === undefined ? path : [...path, 'rules', rule],
      message,
    }));
    if (seen.has(group.name)) problems.push({ path, message: `duplicate group '${group.name}'` });
    seen.add(group.name);
    group.rules.forEach(({ expr }, r) => {
      if (isLogQuery(expr)) problems.push({ path: [...path, 'rules', r, 'expr'], message: LOG_QUERY });
    });
    return problems;
  });
}

/** Syntax errors are reported separately. */
function isLogQuery(expr: string): boolean {
  try {
    return parseQuery(expr).kind === 'log';
  } catch {
    return false;
  }
}

function failed(problems: readonly FileProblem[]): LintedFile {
  return { namespace: '', groups: [], problems: problems.toSorted((a, b) => a.line - b.line) };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0];
}
