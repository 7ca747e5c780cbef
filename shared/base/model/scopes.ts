/** Scopes of access tokens. Each endpoint requires one of them for the tenants that its request names. */
export const SCOPES = [
  'logs:read',
  'logs:write',
  'logs:delete',
  'rules:read',
  'rules:write',
  'boards:write',
  'admin',
] as const;
export type Scope = (typeof SCOPES)[number];

/**
 * Entry of a token's tenant list that means all present and future tenants. Only such tokens can access a
 * tenant of this name.
 */
export const ALL_TENANTS = '*';

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
