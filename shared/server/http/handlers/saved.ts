/**
 * Saved queries and boards of the explorer. Only Logboom has these:
 *
 *     GET    /svc/api/v1/ui/{queries|boards}                    heads of all, by name
 *     POST   /svc/api/v1/ui/{queries|boards}                    creates one
 *     GET    /svc/api/v1/ui/{queries|boards}/{id}               one with its content
 *     PUT    /svc/api/v1/ui/{queries|boards}/{id}?version=N     replaces version N; 409 if another version is stored
 *     DELETE /svc/api/v1/ui/{queries|boards}/{id}?version=N     deletes version N
 */
import { BadRequestError, messageOf, TooLargeError } from '../../../base/model/errors.ts';
import { readBoard, readSavedQuery } from '../../../base/model/read-board.ts';
import {
  MAX_SAVED_BYTES,
  type SavedContent,
  type SavedHead,
  type SavedKind,
} from '../../../storage/catalog/saved-items.ts';
import type { HttpContext } from '../context.ts';
import { param, parseParams } from '../params.ts';
import { json } from '../respond.ts';
import type { Handler, RoutedRequest } from '../routes.ts';
import { singleTenant } from '../tenant.ts';

export interface SavedHandlers {
  readonly list: Handler<HttpContext>;
  readonly create: Handler<HttpContext>;
  readonly show: Handler<HttpContext>;
  readonly replace: Handler<HttpContext>;
  readonly remove: Handler<HttpContext>;
}

/** Validates the content. Throws BadRequestError. */
type ReadContent = (value: unknown) => SavedContent;

function readQueryContent(value: unknown): SavedContent {
  const query = readSavedQuery(value);
  return { name: query.name, about: query.description || query.queries[0], content: query };
}

function readBoardContent(value: unknown): SavedContent {
  const board = readBoard(value);
  return { name: board.name, about: board.description, content: board };
}

export const savedQueries = savedHandlers('queries', readQueryContent);
export const savedBoards = savedHandlers('boards', readBoardContent);

function savedHandlers(kind: SavedKind, readContent: ReadContent): SavedHandlers {
  return {
    async list(context, request) {
      const heads = await savedOf(context).list(singleTenant(request), kind);
      return json({ status: 'success', data: heads.map(shownHead) });
    },
    async create(context, request) {
      const tenant = singleTenant(request);
      const head = await savedOf(context).create(tenant, kind, readContent(bodyOf(kind, request)));
      return json({ status: 'success', data: shownHead(head) });
    },
    async show(context, request) {
      const { id } = request.pathParams;
      const item = await savedOf(context).get(singleTenant(request), kind, id);
      return json({ status: 'success', data: { ...shownHead(item), content: item.content } });
    },
    async replace(context, request) {
      const tenant = singleTenant(request);
      const version = versionOf(request);
      const content = readContent(bodyOf(kind, request));
      const { id } = request.pathParams;
      const head = await savedOf(context).replace(tenant, kind, { id, version }, content);
      return json({ status: 'success', data: shownHead(head) });
    },
    async remove(context, request) {
      const tenant = singleTenant(request);
      const { id } = request.pathParams;
      await savedOf(context).delete(tenant, kind, { id, version: versionOf(request) });
      return json({ status: 'success', data: null });
    },
  };
}

function savedOf({ reading }: HttpContext) {
  return reading.catalog.saved;
}

function versionOf(request: RoutedRequest): number {
  const text = param(parseParams(request), 'version');
  if (/^\d{1,9}$/.test(text) && Number(text) > 0) return Number(text);
  throw new BadRequestError('version: expected the version that was read, such as version=1');
}

function bodyOf(kind: SavedKind, { body }: RoutedRequest): unknown {
  const limit = MAX_SAVED_BYTES[kind];
  if (body.length > limit)
    throw new TooLargeError(`request body too large: ${body.length} bytes, limit: ${limit}`);
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.length).toString());
  } catch (error) {
    throw new BadRequestError(`the body is not JSON: ${messageOf(error)}`, { cause: error });
  }
}

function shownHead({ id, name, about, version, updatedMs }: SavedHead) {
  return { id, name, about, version, updated: new Date(updatedMs).toISOString() };
}
