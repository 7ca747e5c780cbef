/** Readiness, services and build information (docs/dev/wire-format.md#readiness-and-services). */
import { buildInfo } from '../../admin/build-info.ts';
import type { HttpContext } from '../context.ts';
import { json, text } from '../respond.ts';
import type { Handler } from '../routes.ts';

export const ready: Handler<HttpContext> = async context => {
  const reason = context.notReady();
  return reason === undefined ? text('ready\n') : text(`${reason}\n`, 503);
};

export const showBuildInfo: Handler<HttpContext> = async () => json(buildInfo());

export const listServices: Handler<HttpContext> = async context =>
  text([...context.services()].map(([name, state]) => `${name} => ${state}\n`).join(''));
