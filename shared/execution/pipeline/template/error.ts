/**
 * The three failures of the template language. A text that does not parse throws a plain Error with Go's
 * text. A render throws a TemplateError. A function that fails throws a CallError, to which the call adds its
 * position as a TemplateError.
 */
import { MAX_OUTPUT_LENGTH } from './bounds.ts';

export const OUTPUT_TOO_LONG = `text longer than ${MAX_OUTPUT_LENGTH} characters`;
export const TOO_MANY_STEPS = 'too much work for one line';

export class TemplateError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'TemplateError';
  }
}

/** Failure inside a function: only the call knows its position in the template. */
export class CallError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CallError';
  }
}
