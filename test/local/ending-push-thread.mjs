/** The thread for large pushes, which ends as soon as it is given one. */
import { parentPort } from 'node:worker_threads';

parentPort.on('message', () => process.exit(3));
