/** Shows and sets the minimum log level (docs/dev/wire-format.md#log-level). */

import { quote } from '../../../base/model/quote.ts';
import { LOG_LEVELS, type LogLevel } from '../../admin/config-fields.ts';
import type { HttpContext } from '../context.ts';
import { param, parseParams } from '../params.ts';
import { json } from '../respond.ts';
import type { Handler } from '../routes.ts';

export const showLogLevel: Handler<HttpContext> = async ({ logLevel }) =>
  json({ message: `Current log level is ${await logLevel.get()}` });

export const setLogLevel: Handler<HttpContext> = async ({ logLevel }, request) => {
  const level = param(parseParams(request), 'log_level');
  if (!isLevel(level)) {
    return json({ status: 'failed', message: `unrecognized log level ${quote(level)}` }, 400);
  }
  await logLevel.set(level);
  return json({ status: 'success', message: `Log level set to ${level}` });
};

function isLevel(text: string): text is LogLevel {
  return (LOG_LEVELS as readonly string[]).includes(text);
}
