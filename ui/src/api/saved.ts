/** Saved queries and boards of the tenant. */
import type { Board, SavedQuery } from '../../../shared/base/model/board.ts';
import { fetchJson } from './client.ts';

interface Contents {
  readonly queries: SavedQuery;
  readonly boards: Board;
}
export type SavedKind = keyof Contents;

export interface SavedHead {
  readonly id: string;
  readonly name: string;
  readonly about: string;
  readonly version: number;
  /** RFC 3339. */
  readonly updated: string;
}

export interface Saved<K extends SavedKind> extends SavedHead {
  readonly content: Contents[K];
}

interface DataResponse<T> {
  readonly data: T;
}

export async function fetchSaved(kind: SavedKind, signal?: AbortSignal): Promise<readonly SavedHead[]> {
  return (await fetchJson<DataResponse<SavedHead[]>>(root(kind), { signal })).data;
}

export async function fetchSavedItem<K extends SavedKind>(
  kind: K,
  id: string,
  signal?: AbortSignal,
): Promise<Saved<K>> {
  return (await fetchJson<DataResponse<Saved<K>>>(`${root(kind)}/${encodeURIComponent(id)}`, { signal }))
    .data;
}

export async function createSaved<K extends SavedKind>(kind: K, content: Contents[K]): Promise<SavedHead> {
  const options = { method: 'POST', body: JSON.stringify(content), headers: JSON_TYPE } as const;
  return (await fetchJson<DataResponse<SavedHead>>(root(kind), options)).data;
}

/** Rejects with status 409 if the stored version is not `version`. */
export async function replaceSaved<K extends SavedKind>(
  kind: K,
  { id, version }: Pick<SavedHead, 'id' | 'version'>,
  content: Contents[K],
): Promise<SavedHead> {
  const options = { method: 'PUT', body: JSON.stringify(content), headers: JSON_TYPE } as const;
  const path = `${root(kind)}/${encodeURIComponent(id)}`;
  return (await fetchJson<DataResponse<SavedHead>>(path, { ...options, params: { version } })).data;
}

/** Deletes a saved item. Rejects like `replaceSaved`. */
export async function deleteSaved(
  kind: SavedKind,
  { id, version }: Pick<SavedHead, 'id' | 'version'>,
): Promise<void> {
  await fetchJson(`${root(kind)}/${encodeURIComponent(id)}`, { method: 'DELETE', params: { version } });
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

function root(kind: SavedKind): string {
  return `/svc/api/v1/ui/${kind}`;
}
