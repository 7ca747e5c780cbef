/** `GET /svc/api/v1/openapi.json`: the OpenAPI document. Only Logboom has this. */
import { openApi } from '../api-docs/openapi.ts';
import { jsonText } from '../respond.ts';
import type { Handler, Route } from '../routes.ts';

/** @param routes the whole route table, called at the first request because this route is part of it */
export function describeApi<Context>(routes: () => readonly Route<Context>[]): Handler<Context> {
  let document: string | undefined;
  return async () => {
    document ??= JSON.stringify(openApi(routes()));
    return jsonText(document);
  };
}
