/** Thread that listens itself. */
import { parentPort } from 'node:worker_threads';
import { listen } from './listen.ts';
import { work } from './work.ts';

parentPort!.postMessage(await listen(async body => work(body), { reusesPort: true }));
