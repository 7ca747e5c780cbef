/** Lambda function that serves live tails. */
import { createTailFunction } from './assemble-tail.ts';
import { createDispatchHandler } from './tail-dispatch-handler.ts';

export const handler = createDispatchHandler(createTailFunction('tail-dispatch', process.env));
