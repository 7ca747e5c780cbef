/**
 * A developer's view of the recorded answers, not part of the tests:
 *
 *     node test/conformance/run.ts [--category NAME]... [--id ID]... [--texts] [--show] [--url URL [--push]]
 *
 * Without `--url` it starts a store on an empty folder. `--texts` compares the texts of errors too, `--show`
 * prints both answers. Ends with a table, and status 1 if a response is wrong.
 */
import { parseArgs } from 'node:util';
import { createClient } from '../end-to-end/support/client.ts';
import { startStore } from '../end-to-end/support/store.ts';
import { CONFORMANCE_CONFIG, checkCases, explain, failures, pushCorpus, requestOf, table } from './check.ts';
import { loadExceptions } from './exceptions.ts';
import { isServed, loadCases, queryText } from './recorded.ts';

const { values: flags } = parseArgs({
  options: {
    category: { type: 'string', multiple: true },
    id: { type: 'string', multiple: true },
    texts: { type: 'boolean' },
    show: { type: 'boolean' },
    url: { type: 'string' },
    push: { type: 'boolean' },
  },
});

const cases = loadCases().filter(recorded => {
  if (flags.id !== undefined) return flags.id.includes(recorded.id);
  return isServed(recorded) && (flags.category === undefined || flags.category.includes(recorded.category));
});
const store = flags.url === undefined ? await startStore(CONFORMANCE_CONFIG) : undefined;
const client = store?.client ?? createClient(flags.url!);
try {
  if (store !== undefined || flags.push) await pushCorpus(client);
  const verdicts = await checkCases(client, cases, loadExceptions());
  const failed = failures(verdicts);
  for (const verdict of failed) console.log(`${explain(verdict)}\n`);
  if (flags.texts) {
    for (const { recorded, textProblem } of verdicts) {
      if (textProblem !== undefined) console.log(`${recorded.id}  ${queryText(recorded)}\n${textProblem}\n`);
    }
  }
  if (flags.show) {
    for (const recorded of cases) {
      console.log(
        `${recorded.id}  ${recorded.method} ${recorded.path} ${JSON.stringify(recorded.query ?? recorded.form)}`,
      );
      console.log(`got  ${(await client.send(requestOf(recorded))).text}`);
      console.log(`want ${JSON.stringify(recorded.body)}\n`);
    }
  }
  console.log(table(verdicts));
  process.exitCode = failed.length > 0 ? 1 : 0;
} finally {
  client.close();
  await store?.stop();
}
