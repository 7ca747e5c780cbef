/** What a token may do. Each endpoint asks for one of these, for the tenants that its request names. */
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

/** In a token's list of tenants: all that there are and ever will be. A tenant of this name is reached by such tokens alone. */
export const ALL_TENANTS = '*';

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
