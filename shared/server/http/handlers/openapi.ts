/** `GET /svc/api/v1/openapi.json`: the description of the API. Logboom's own. */
import { openApi } from '../api-docs/openapi.ts';
import { jsonText } from '../respond.ts';
import type { Handler, Route } from '../routes.ts';

/** @param routes the whole table, which this route is part of: so it is asked for when the first request comes */
export function describeApi<Context>(routes: () => readonly Route<Context>[]): Handler<Context> {
  let document: string | undefined;
  return async () => {
    document ??= JSON.stringify(openApi(routes()));
    return jsonText(document);
  };
}
