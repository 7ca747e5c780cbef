/** Words that may follow each command, read from the command tree. The completions of all shells use them. */
import type { Command, Option } from 'commander';

export interface OptionWords {
  /** Spellings, for example `-l` and `--label`. */
  readonly flags: readonly string[];
  readonly text: string;
  readonly takesValue: boolean;
  /** Allowed values, if the option has a fixed set. */
  readonly choices: readonly string[];
  /** True if the value is a file or folder. */
  readonly isPath: boolean;
  /** True if the value is a list of label names. */
  readonly isLabels: boolean;
}

export interface CommandWords {
  /** `''` for the program itself, `rules load` for a command of a command. */
  readonly path: string;
  readonly text: string;
  /** Subcommands, and the allowed values of an argument that has a fixed set. */
  readonly commands: readonly { readonly name: string; readonly text: string }[];
  readonly options: readonly OptionWords[];
  readonly takesFiles: boolean;
  /** True if the argument is a query. */
  readonly takesQuery: boolean;
  /** True if the argument is a label name. */
  readonly takesLabel: boolean;
}

const PATH = /<(file|files|folder|files\.\.\.)>/;
const QUERY = /^(?:query|selectors?)$/;
const QUERY_OPTIONS: ReadonlySet<string | undefined> = new Set(['--query', '--match']);
const LABEL_OPTIONS: ReadonlySet<string | undefined> = new Set(['--target-labels']);

/** Words of every command, parents before children. */
export function wordsOf(program: Command): readonly CommandWords[] {
  return walk(program, '');
}

function walk(command: Command, path: string): CommandWords[] {
  const below = command
    .createHelp()
    .visibleCommands(command)
    .filter(each => each.name() !== 'help');
  const named = below.flatMap(each =>
    [each.name(), ...each.aliases()].map(name => ({ name, command: each })),
  );
  const own: CommandWords = {
    path,
    text: command.description(),
    commands: [
      ...named.map(({ name, command: each }) => ({ name, text: each.description() })),
      ...choicesOf(command),
    ],
    options: [...command.options.filter(({ hidden }) => !hidden).map(wordsOfOption), HELP],
    takesFiles: command.registeredArguments.some(argument => /^files?$/.test(argument.name())),
    takesQuery:
      isOfStore(command) &&
      (takes(command, QUERY) || command.options.some(({ long }) => QUERY_OPTIONS.has(long))),
    takesLabel: isOfStore(command) && takes(command, /^label$/),
  };
  return [own, ...named.flatMap(({ name, command: each }) => walk(each, `${path} ${name}`.trim()))];
}

function isOfStore({ options }: Command): boolean {
  return options.some(({ long }) => long === '--addr');
}

function takes({ registeredArguments }: Command, name: RegExp): boolean {
  return registeredArguments.some(argument => name.test(argument.name()));
}

/** An argument that is one of some words is completed like a command. */
function choicesOf(command: Command): { name: string; text: string }[] {
  return command.registeredArguments.flatMap(({ argChoices = [] }) =>
    argChoices.map(name => ({ name, text: '' })),
  );
}

const HELP: OptionWords = {
  flags: ['--help'],
  text: 'display help',
  takesValue: false,
  choices: [],
  isPath: false,
  isLabels: false,
};

function wordsOfOption(option: Option): OptionWords {
  const { short, long, description, required, optional, argChoices = [] } = option;
  return {
    flags: [short, long].filter(flag => flag !== undefined && flag !== null),
    text: description,
    takesValue: required || optional,
    choices: argChoices,
    isPath: PATH.test(option.flags),
    isLabels: LABEL_OPTIONS.has(long),
  };
}
