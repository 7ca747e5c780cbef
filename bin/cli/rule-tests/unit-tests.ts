/** Runs the rule unit tests of files and reports them one by one. */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CommandError } from '../command-error.ts';
import { readFiles } from '../rule-files.ts';
import { print } from '../standard-output.ts';
import { runRuleTest } from './run-test.ts';
import { readTestFile } from './test-file.ts';

/** Throws CommandError if a test fails or a file cannot be read. */
export async function runUnitTests(files: readonly string[]): Promise<void> {
  let failed = 0;
  let all = 0;
  for (const file of files) {
    const { rule_files: ruleFiles, tests } = readTestFile(file, await readFile(file, 'utf8'));
    const namespaces = await readFiles(ruleFiles.map(path => resolve(dirname(file), path)));
    const groups = [...namespaces.values()].flat();
    for (const one of tests) {
      const failures = await runRuleTest(one, groups);
      all++;
      if (failures.length > 0) failed++;
      const lines = [
        `${failures.length > 0 ? 'FAIL' : 'PASS'} ${file}: ${one.name}`,
        ...failures.map(indented),
      ];
      await print(`${lines.join('\n')}\n`);
    }
  }
  if (failed > 0)
    throw new CommandError(
      `${failed} of ${all} ${all === 1 ? 'test' : 'tests'} failed (- expected, + found)`,
    );
}

function indented(line: string): string {
  return `  ${line}`;
}
