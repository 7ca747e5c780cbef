/**
 * Thrown if the specification leaves the result open, or if the oracle is too simple. The query is then not
 * compared.
 */
export class Undecided extends Error {}
