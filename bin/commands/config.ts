/** `logboom config check`: validates a configuration and its overrides before a store starts with them. */
import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { stringify } from 'yaml';
import { ConfigError, formatConfig, parseConfig } from '../../shared/server/admin/config.ts';
import type { Config } from '../../shared/server/admin/config-fields.ts';
import { type OverridesText, parseOverrides } from '../../shared/server/admin/overrides.ts';
import { overridesFile } from '../../shared/server/admin/overrides-file.ts';
import { asAction, CommandError } from '../cli/command-error.ts';
import { countText } from '../cli/count-text.ts';
import { addExamples } from '../cli/examples.ts';
import { endWithReader, print, say } from '../cli/standard-output.ts';
import { storageOf } from '../cli/storage-flags.ts';

interface CheckFlags {
  readonly overrides?: readonly string[];
  readonly print?: boolean;
}

const NOTES = `
Prints every problem as FILE:LINE:COLUMN: KEY: MESSAGE. Lists keys without effect as warnings. For every key, see
docs/reference/configuration.md.

Exit codes:
  0  a store would start with the configuration
  1  problems were found

Examples:
  logboom config check my.yaml
  logboom config check my.yaml --overrides overrides.yaml
  logboom config check my.yaml --print > effective.yaml`;

export function register(program: Command): void {
  const group = addExamples(
    program.command('config').description('validate a configuration'),
    'logboom config check logboom.yaml',
    'logboom config check logboom.yaml --print',
  );
  group
    .command('check')
    .description('validate a configuration file and its overrides')
    .argument('<file>', 'configuration file (YAML)')
    .addOption(
      new Option('--overrides <files...>', 'overrides files; replace those that the configuration names'),
    )
    .addOption(new Option('--print', 'print the effective values as YAML, without secrets'))
    .addHelpText('after', NOTES)
    .action(asAction(check));
}

async function check(file: string, flags: CheckFlags): Promise<void> {
  endWithReader();
  const problems: string[] = [];
  const read = await collectProblems(problems, async () =>
    parseConfig(readFileSync(file, 'utf8'), { name: file, environment: process.env }),
  );
  const files = flags.overrides ?? read?.config.runtime.files ?? [];
  const texts: OverridesText[] = [];
  for (const name of files) {
    await collectProblems(problems, async () => {
      // Reads the file as the store does, with the same bounds.
      const stamped = await overridesFile(name).read(undefined);
      texts.push({ name, text: stamped?.text ?? '' });
    });
  }
  const overrides = await collectProblems(problems, async () =>
    // The overrides of an unreadable configuration have no defaults, so the check uses the reference's.
    parseOverrides(texts, (read?.config ?? parseConfig('', { name: file, environment: {} }).config).limits),
  );
  if (read !== undefined) await collectProblems(problems, async () => checkStorage(file, read.config));
  for (const warning of [...(read?.warnings ?? []), ...(overrides?.warnings ?? [])]) {
    say(`warning: ${warning}\n`);
  }
  if (problems.length > 0 || read === undefined || overrides === undefined) {
    throw new CommandError(`the configuration is invalid\n${problems.join('\n')}`);
  }
  await print(
    flags.print ? stringify(formatConfig(read.config, { mode: 'full' })) : summary(file, read.config),
  );
  if (files.length > 0 && !flags.print) {
    await print(`${files.join(', ')}: valid, overrides of ${countText(overrides.limits.size, 'tenant')}\n`);
  }
}

/** Finds combinations that a start would refuse although each key is valid. */
function checkStorage(file: string, { logboom }: Config): void {
  try {
    storageOf({ config: file }, logboom);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(`${file}: ${error.message}`);
  }
}

/** Result of `run`; undefined if it failed. Adds errors that the user can fix to `problems`. */
async function collectProblems<T>(problems: string[], run: () => Promise<T>): Promise<T | undefined> {
  try {
    return await run();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(error.message);
    return undefined;
  }
}

function summary(file: string, config: Config): string {
  const changed = leaves(formatConfig(config, { mode: 'diff' }), 2);
  const text = countText(changed, 'key differs', 'keys differ');
  const object = config.runtime.object === '' ? '' : `; the object ${config.runtime.object} is not checked`;
  return `${file}: valid, ${text} from the defaults${object}\n`;
}

/** Keys are at the top of the file or in a section, never deeper. */
function leaves(tree: object, levels: number): number {
  return Object.values(tree).reduce((sum: number, value: unknown) => {
    const isSection = levels > 1 && typeof value === 'object' && value !== null && !Array.isArray(value);
    return sum + (isSection ? leaves(value, levels - 1) : 1);
  }, 0);
}
