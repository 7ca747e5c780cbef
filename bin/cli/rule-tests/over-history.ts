/** Evaluates the rules of files over the data of a running store. Writes nothing. */
import { templateRunner } from '../../../shared/server/rules/template/run-template.ts';
import { CommandError } from '../command-error.ts';
import { type RangeFlags, rangeOfFlags } from '../range-options.ts';
import { fetchRange, type RangeRequest } from '../range-query.ts';
import { readFiles } from '../rule-files.ts';
import { print } from '../standard-output.ts';
import type { StoreFlags } from '../store-client.ts';
import { dryRunRules } from './dry-run.ts';
import { historyQuery } from './history.ts';

export interface HistoryFlags extends StoreFlags, RangeFlags {
  /** Interval of groups that do not define one, ns. */
  readonly interval: bigint;
}

/** Throws CommandError if a rule cannot be evaluated or a file cannot be read. */
export async function runOverHistory(files: readonly string[], flags: HistoryFlags): Promise<void> {
  const range = rangeOfFlags(flags);
  const templates = templateRunner({ externalLabels: {}, externalUrl: '' });
  const ending = new AbortController();
  const giveUp = (reason: unknown) => ending.abort(reason);
  const { signal } = ending;
  const ask = (request: RangeRequest) => fetchRange(flags, request);
  let broken = 0;
  for (const [namespace, groups] of await readFiles(files)) {
    for (const group of groups) {
      const lines = dryRunRules(group, {
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
