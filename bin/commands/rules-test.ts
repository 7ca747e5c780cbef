/** `logboom rules test`: unit tests of rules, and rules over what is stored (docs/rules.md). */
import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { systemClock } from '../../local/system-clock.ts';
import { NS_PER_SECOND, parsePrometheusDuration } from '../../shared/model/duration.ts';
import { messageOf } from '../../shared/model/errors.ts';
import { templateRunner } from '../../shared/rules/template/run-template.ts';
import { asAction, CommandError } from '../cli/command-error.ts';
import { askRange, type RangeRequest } from '../cli/range-query.ts';
import { readFiles } from '../cli/rule-files.ts';
import { dryRun } from '../cli/rule-tests/dry-run.ts';
import { historyQuery } from '../cli/rule-tests/history.ts';
import { runRuleTest } from '../cli/rule-tests/run-test.ts';
import { readTestFile } from '../cli/rule-tests/test-file.ts';
import { endWithReader, print } from '../cli/standard-output.ts';
import { addStoreOptions, type StoreFlags } from '../cli/store-client.ts';
import { parseInstant, rangeOf } from '../cli/time-text.ts';

interface TestFlags extends StoreFlags {
  readonly dryRun: boolean;
  readonly since: bigint;
  readonly from?: bigint;
  readonly to?: bigint;
  readonly interval: bigint;
}

const NOTES = `
Without --dry-run the files are test files: they name rule files, log lines, and the alerts and samples to expect. Needs no
store. With it they are rule files, and the rules are evaluated over what a running store holds; nothing is written.

Times are RFC 3339, Unix seconds, Unix nanoseconds or "now".

Examples:
  logboom rules test rules/*.test.yaml
  logboom rules test --dry-run rules/shop.yaml --since 7d`;

export function registerTest(group: Command): void {
  const command = group
    .command('test')
    .description('run unit tests of rules, or rules over stored logs')
    .argument('<files...>', 'test files; with --dry-run files of rule groups')
    .addOption(new Option('--dry-run', 'evaluate rules over the logs of a running store').default(false))
    .addOption(
      new Option('--since <duration>', 'look back from --to, for example 6h, 7d')
        .argParser(parseDuration)
        .default(parsePrometheusDuration('1h'), '1h')
        .conflicts('from'),
    )
    .addOption(new Option('--from <time>', 'start').argParser(parseTime))
    .addOption(new Option('--to <time>', 'end (default: now)').argParser(parseTime))
    .addOption(
      new Option('--interval <duration>', 'of groups that name none')
        .argParser(parseInterval)
        .default(60n * NS_PER_SECOND, '1m'),
    );
  addStoreOptions(command).addHelpText('after', NOTES).action(asAction(test));
}

function test(files: readonly string[], flags: TestFlags): Promise<void> {
  endWithReader();
  return flags.dryRun ? runOverHistory(files, flags) : runUnitTests(files);
}

async function runUnitTests(files: readonly string[]): Promise<void> {
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

async function runOverHistory(files: readonly string[], flags: TestFlags): Promise<void> {
  const range = rangeOf({ sinceNs: flags.since, from: flags.from, to: flags.to }, systemClock.nowNs());
  if (range.endNs < range.startNs) throw new CommandError('the end of the range is before its start');
  const templates = templateRunner({ externalLabels: {}, externalUrl: '' });
  const ending = new AbortController();
  const giveUp = (reason: unknown) => ending.abort(reason);
  const { signal } = ending;
  const ask = (request: RangeRequest) => askRange(flags, request);
  let broken = 0;
  for (const [namespace, groups] of await readFiles(files)) {
    for (const group of groups) {
      const lines = dryRun(group, {
        namespace,
        range,
        intervalNs: flags.interval,
        partsOf: history => ({ query: historyQuery(ask, history, giveUp), templates, signal }),
      });
      let line = await lines.next();
      for (; !line.done; line = await lines.next()) await print(line.value);
      broken += line.value;
    }
  }
  if (broken > 0)
    throw new CommandError(`${broken} ${broken === 1 ? 'rule' : 'rules'} could not be evaluated`);
}

function parseDuration(text: string): bigint {
  return checked(() => parsePrometheusDuration(text), 'A duration is written like 90s, 15m, 1h30m or 7d');
}

function parseInterval(text: string): bigint {
  const ns = parseDuration(text);
  if (ns < NS_PER_SECOND) throw new InvalidArgumentError('An interval has a second or more.');
  return ns;
}

function parseTime(text: string): bigint {
  return checked(
    () => parseInstant(text, systemClock.nowNs()),
    'A time is written like 2026-01-05T10:00:00Z, in Unix seconds or nanoseconds, or "now"',
  );
}

function checked<T>(parse: () => T, help: string): T {
  try {
    return parse();
  } catch (error) {
    throw new InvalidArgumentError(`${help} (${messageOf(error)}).`);
  }
}
