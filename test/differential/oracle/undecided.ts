/** Thrown where the specification leaves the answer open, or where the oracle is too simple: the query is not compared. */
export class Undecided extends Error {}
