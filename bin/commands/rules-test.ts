/**
 * `logboom rules test`: runs rule unit tests, and evaluates rules over stored data (docs/reference/rules.md).
 */
import { type Command, InvalidArgumentError, Option } from 'commander';
import { NS_PER_SECOND } from '../../shared/base/model/time-units.ts';
import { asAction } from '../cli/command-error.ts';
import { needNewerNode } from '../cli/newer-node.ts';
import { addRangeOptions, parseSince } from '../cli/range-options.ts';
import type { HistoryFlags } from '../cli/rule-tests/over-history.ts';
import { endWithReader } from '../cli/standard-output.ts';
import { addStoreOptions } from '../cli/store-client.ts';

interface TestFlags extends HistoryFlags {
  readonly dryRun?: boolean;
}

const NOTES = `
Without --dry-run, the files are test files with rule files, log lines, and the expected alerts and samples. No store is
needed. With --dry-run, the files are rule files, which are evaluated over the entries of a running store. Nothing is written.

Times are RFC 3339, Unix seconds, Unix nanoseconds or "now".

Examples:
  logboom rules test rules/*.test.yaml
  logboom rules test --dry-run rules/shop.yaml --since 7d`;

export function registerTest(group: Command): void {
  const command = group
    .command('test')
    .description('run unit tests of rules, or evaluate rules over stored logs')
    .argument('<files...>', 'test files; with --dry-run, rule files')
    .addOption(new Option('--dry-run', 'evaluate rules over the logs of a running store'));
  addRangeOptions(command).addOption(
    new Option('--interval <duration>', 'interval of groups that do not set one')
      .argParser(parseInterval)
      .default(60n * NS_PER_SECOND, '1m'),
  );
  addStoreOptions(command).addHelpText('after', NOTES).action(asAction(test));
}

/** Both need much of the store's code, which is loaded only for this command. */
async function test(files: readonly string[], flags: TestFlags): Promise<void> {
  await needNewerNode();
  endWithReader();
  if (flags.dryRun) {
    const { runOverHistory } = await import('../cli/rule-tests/over-history.ts');
    return runOverHistory(files, flags);
  }
  const { runUnitTests } = await import('../cli/rule-tests/unit-tests.ts');
  return runUnitTests(files);
}

function parseInterval(text: string): bigint {
  const ns = parseSince(text);
  if (ns < NS_PER_SECOND) throw new InvalidArgumentError('An interval must be at least 1s.');
  return ns;
}
