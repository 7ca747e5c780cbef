/** Plays Lambda in a process of its own: `node invoke.mjs MODULE`, events as a JSON list on standard input, results out. */
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const { handler } = await import(pathToFileURL(process.argv[2]).href);
const results = [];
for (const event of JSON.parse(await text(process.stdin))) {
  results.push(await handler(event, { awsRequestId: 'invoked', getRemainingTimeInMillis: () => 29_000 }));
}
process.stdout.write(JSON.stringify(results), () => process.exit(0));
