/**
 * Replaces Lambda in a separate process: `node invoke.mjs MODULE`, events as a JSON list on standard input,
 * results on standard output. The variable REMAINING_MS is the remaining time of the function.
 */
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const { handler } = await import(pathToFileURL(process.argv[2]).href);
const remainingMs = Number(process.env.REMAINING_MS ?? 29_000);
const results = [];
for (const event of JSON.parse(await text(process.stdin))) {
  results.push(
    await handler(event, { awsRequestId: 'invoked', getRemainingTimeInMillis: () => remainingMs }),
  );
}
process.stdout.write(JSON.stringify(results), () => process.exit(0));
