/** Looks through a file of rule groups and tells every problem with its place, as an editor or a build shows it. */
import { isNode, LineCounter, parseDocument } from 'yaml';
import type { RuleGroup } from '../catalog/rule-group.ts';
import { messageOf } from '../model/errors.ts';
import { NO_GROUP, readRuleFile } from './rule-yaml.ts';
import { type CheckTemplate, problemsOf, validateGroup } from './validate-group.ts';

export interface FileProblem {
  /** From 1. */
  readonly line: number;
  readonly message: string;
}

export interface LintedFile {
  /** As the file names it; empty where it does not. */
  readonly namespace: string;
  /** Empty where there are problems. */
  readonly groups: readonly RuleGroup[];
  /** By line. */
  readonly problems: readonly FileProblem[];
}

/** Does not throw. */
export function lintRuleFile(text: string, check: CheckTemplate): LintedFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, logLevel: 'silent', uniqueKeys: false });
  const [broken] = document.errors;
  if (broken !== undefined) {
    return failed([{ line: lines.linePos(broken.pos[0]).line, message: firstLine(broken.message) }]);
  }
  const lineOf = (path: readonly (string | number)[]): number => {
    const node: unknown = document.getIn(path, true);
    return isNode(node) && node.range ? lines.linePos(node.range[0]).line : 1;
  };
  try {
    const { namespace, groups } = readRuleFile(text);
    const problems = groups.flatMap((group, g) =>
      problemsOf(group, check).map(({ rule, message }) => ({
        line: lineOf(rule === undefined ? ['groups', g] : ['groups', g, 'rules', rule]),
        message,
      })),
    );
    const seen = new Set<string>();
    groups.forEach(({ name }, g) => {
      if (seen.has(name))
        problems.push({ line: lineOf(['groups', g]), message: `group '${name}' is there twice` });
      seen.add(name);
    });
    if (groups.length === 0)
      problems.push({ line: 1, message: 'there are no groups: write them under "groups:"' });
    if (problems.length > 0) return failed(problems.sort((a, b) => a.line - b.line));
    return { namespace, groups: groups.map(group => validateGroup(group, 0, check)), problems: [] };
  } catch (error) {
    const message = messageOf(error);
    return failed([
      { line: 1, message: message === NO_GROUP ? `${message}: a value is of another kind` : message },
    ]);
  }
}

function failed(problems: readonly FileProblem[]): LintedFile {
  return { namespace: '', groups: [], problems };
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0];
}
