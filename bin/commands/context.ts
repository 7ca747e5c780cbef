/** `logboom context set|use|list|show|delete`: manages named defaults of the connection options. */
import type { Command } from 'commander';
import { asAction, CommandError, UsageError } from '../cli/command-error.ts';
import { type ContextValues, readContexts, writeContexts } from '../cli/contexts.ts';
import { addExamples } from '../cli/examples.ts';
import { endWithReader, print, say, shown } from '../cli/standard-output.ts';
import { addStoreOptions } from '../cli/store-client.ts';
import { CONTEXT_OPTIONS } from '../cli/store-options.ts';
import { tableText } from '../cli/table-text.ts';

/** Allowed names: they need no quotes in a shell. */
const NAME = /^[A-Za-z0-9._-]{1,100}$/;
const SECRETS: ReadonlySet<string> = new Set(['password', 'bearerToken']);

const NOTES = `
Command-line options override environment variables, which override the context: the one of --context or LOGBOOM_CONTEXT, else
the default one. Contexts are stored in ~/.config/logboom/contexts.json (or LOGBOOM_CONTEXTS_FILE), which only you can
read. Prefer --bearer-token-file to a password or token in a context.

Examples:
  logboom context set prod --addr https://logs.example.com --tenant shop --bearer-token-file ~/.logs-token
  logboom context use prod                      default for all commands
  logboom query '{app="shop"}' --context prod   for one command
  logboom context use -                         no default`;

export function register(program: Command): void {
  const group = program
    .command('context')
    .description('manage named sets of connection options: set, use, list, show, delete')
    .addHelpText('after', NOTES);
  const set = group
    .command('set')
    .description('create or replace a context')
    .argument('<name>', 'name of the context');
  addExamples(
    addStoreOptions(set),
    'logboom context set dev --addr http://127.0.0.1:3100',
    'logboom context set prod --addr https://logs.example.com --tenant shop --bearer-token-file ~/.logs-token',
  ).action(asAction(async (name: string) => setContext(name, givenValues(set))));
  addExamples(
    group
      .command('use')
      .description('make a context the default')
      .argument('<name>', 'name of the context, or - for none'),
    'logboom context use prod',
    'logboom context use -',
  ).action(asAction(async (name: string) => useContext(name)));
  addExamples(
    group.command('list').description('list contexts'),
    'logboom context list',
    'LOGBOOM_CONTEXTS_FILE=team.json logboom context list',
  ).action(asAction(list));
  addExamples(
    group
      .command('show')
      .description('print a context as JSON, without secrets')
      .argument('[name]', 'name of the context (default: the current one)'),
    'logboom context show',
    'logboom context show prod',
  ).action(asAction(show));
  addExamples(
    group.command('delete').description('delete a context').argument('<name>', 'name of the context'),
    'logboom context delete dev',
    'LOGBOOM_CONTEXTS_FILE=team.json logboom context delete dev',
  ).action(asAction(async (name: string) => deleteContext(name)));
}

/** Options on the command line. Those of the environment override the context anyway. */
function givenValues(command: Command): ContextValues {
  const given = CONTEXT_OPTIONS.filter(name => command.getOptionValueSource(name) === 'cli');
  return Object.fromEntries(
    given.map(name => {
      const value: unknown = command.getOptionValue(name);
      return [name, value === true ? true : String(value)];
    }),
  );
}

function setContext(name: string, values: ContextValues): void {
  if (!NAME.test(name))
    throw new UsageError('the name of a context has up to 100 letters, digits, ".", "_" and "-"');
  if (name === '-') throw new UsageError('"-" means no context; choose another name');
  if (Object.keys(values).length === 0)
    throw new UsageError('give at least one option for the context, such as --addr URL');
  const { current, contexts } = readContexts();
  writeContexts({ version: 1, current, contexts: { ...contexts, [name]: values } });
  say(`context ${name} is set; to make it the default: logboom context use ${name}\n`);
}

function useContext(name: string): void {
  const { contexts } = readContexts();
  if (name !== '-') valuesOf(name, contexts);
  writeContexts({ version: 1, current: name === '-' ? undefined : name, contexts });
}

function deleteContext(name: string): void {
  const { current, contexts } = readContexts();
  valuesOf(name, contexts);
  const { [name]: _, ...others } = contexts;
  writeContexts({ version: 1, current: current === name ? undefined : current, contexts: others });
}

async function list(): Promise<void> {
  endWithReader();
  const { current, contexts } = readContexts();
  const rows = Object.keys(contexts)
    .sort()
    .map(name => {
      const { addr, tenant } = contexts[name];
      return [name === current ? '*' : '', name, addr ? String(addr) : null, tenant ? String(tenant) : null];
    });
  if (rows.length === 0) return say('no contexts; create one with: logboom context set NAME --addr URL\n');
  const columns = ['in use', 'name', 'addr', 'tenant'].map(name => ({ name }));
  await print(tableText({ columns, rows }, 'table', { shown }));
}

async function show(name: string | undefined): Promise<void> {
  endWithReader();
  const { current, contexts } = readContexts();
  const wanted = name ?? current;
  if (wanted === undefined) throw new CommandError('no current context; give its name');
  const values = Object.entries(valuesOf(wanted, contexts)).map(([key, value]) => [
    key,
    SECRETS.has(key) ? '(hidden)' : value,
  ]);
  await print(`${JSON.stringify(Object.fromEntries(values), undefined, 2)}\n`);
}

function valuesOf(name: string, contexts: Readonly<Record<string, ContextValues>>): ContextValues {
  if (Object.hasOwn(contexts, name)) return contexts[name];
  throw new CommandError(`context ${name} does not exist; run logboom context list`);
}
