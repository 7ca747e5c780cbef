/**
 * JavaScript of CloudFront Functions as text, because they cannot import anything. Pure, so that tests can
 * run it.
 *
 * Pitfall: `event.request.querystring` has values as the client encoded them, once for each name. Repeated
 * ones are separate, in `multiValue`.
 */
import { PAGE_PATH } from '../shared/server/http/ui.ts';

/** Header for functions of the WebSocket API, whose requests have no path (functions/websocket-event.ts). */
const PATH_HEADER = 'x-logboom-path';

/** Rewrites any tail path to the stage of the WebSocket API, its only path. */
export function tailFunctionCode(stage: string): string {
  return `function handler(event) {
  var request = event.request;
  request.headers['${PATH_HEADER}'] = { value: request.uri };
  request.uri = '/${stage}';
  return request;
}
`;
}

/** Redirects browsers from `/` to the page; API clients pass through. */
export function rootFunctionCode(): string {
  return `function handler(event) {
  var request = event.request;
  var accept = request.headers.accept;
  if (!accept || accept.value.toLowerCase().indexOf('text/html') < 0) return request;
  return {
    statusCode: 302,
    statusDescription: 'Found',
    headers: { location: { value: '${PAGE_PATH}' }, 'cache-control': { value: 'no-cache' } },
  };
}
`;
}

/** Rewrites `/ui` to `/ui/` with its query, which is the state of the page, and `/ui/` to its file. */
export function pageFunctionCode(): string {
  return `function handler(event) {
  var request = event.request;
  if (request.uri === '${PAGE_PATH}') request.uri = '${PAGE_PATH}index.html';
  if (request.uri !== '${PAGE_PATH.slice(0, -1)}') return request;
  var pairs = [];
  for (var name in request.querystring) {
    var given = request.querystring[name];
    (given.multiValue || [given]).forEach(function (one) {
      pairs.push(name + '=' + one.value);
    });
  }
  var query = pairs.length > 0 ? '?' + pairs.join('&') : '';
  return {
    statusCode: 302,
    statusDescription: 'Found',
    headers: { location: { value: '${PAGE_PATH}' + query }, 'cache-control': { value: 'no-cache' } },
  };
}
`;
}
