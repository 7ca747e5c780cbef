/** Files of rule groups that are passed to commands. */
import { readFile } from 'node:fs/promises';
import { basename, extname } from 'node:path';
import { messageOf } from '../../shared/base/model/errors.ts';
import { lintRuleFile } from '../../shared/server/rules/lint-file.ts';
import { checkTemplate } from '../../shared/server/rules/template/check-template.ts';
import type { RuleGroup } from '../../shared/storage/catalog/rule-group.ts';
import { CommandError } from './command-error.ts';

interface RuleFileReport {
  readonly file: string;
  /** Namespace in the file, else the file name without its extension. */
  readonly namespace: string;
  readonly groups: readonly RuleGroup[];
  /** Problems as `FILE:LINE: what is wrong`. */
  readonly problems: readonly string[];
}

/** Checks the text of a file. */
export function lintText(text: string): ReturnType<typeof lintRuleFile> {
  return lintRuleFile(text, checkTemplate);
}

/** Checks files. Throws CommandError if a file cannot be read. */
export function lintFiles(files: readonly string[]): Promise<RuleFileReport[]> {
  return Promise.all(files.map(lintFile));
}

/** Groups by namespace. Throws CommandError with all problems. */
export async function readFiles(files: readonly string[]): Promise<Map<string, RuleGroup[]>> {
  const reports = await lintFiles(files);
  const problems = reports.flatMap(report => report.problems);
  const namespaces = new Map<string, RuleGroup[]>();
  for (const { file, namespace, groups } of reports) {
    const known = namespaces.get(namespace) ?? [];
    for (const group of groups) {
      if (known.some(({ name }) => name === group.name)) {
        problems.push(`${file}:1: group '${group.name}' of namespace '${namespace}' is also in another file`);
      }
    }
    namespaces.set(namespace, [...known, ...groups]);
  }
  if (problems.length > 0) throw new CommandError(problems.join('\n'));
  return namespaces;
}

async function lintFile(file: string): Promise<RuleFileReport> {
  let text: string;
  try {
    text = await readFile(file, 'utf8');
  } catch (error) {
    throw new CommandError(`cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
  const { namespace, groups, problems } = lintText(text);
  return {
    file,
    namespace: namespace === '' ? basename(file, extname(file)) : namespace,
    groups,
    problems: problems.map(({ line, message }) => `${file}:${line}: ${message}`),
  };
}
