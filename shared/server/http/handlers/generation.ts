/** Cache generation numbers (docs/dev/wire-format.md#cache-generation), available if deletes are. */
import type { HttpContext } from '../context.ts';
import { deletingTenant } from '../deletion-available.ts';
import { json, noContent } from '../respond.ts';
import type { Handler } from '../routes.ts';

export const showGeneration: Handler<HttpContext> = async (context, request) =>
  json(await context.generations.read(deletingTenant(context, request)));

export const increaseGeneration: Handler<HttpContext> = async (context, request) => {
  await context.generations.increase(deletingTenant(context, request));
  return noContent();
};
