/**
 * Maps combinations of small numbers to one number. A row's group is found by walking from node to node, one
 * step for each label, without building a string. A step is (node, label, value) -> node; nodes are numbered
 * in order of appearance.
 */

/** Maximum nodes, about 100 MB. Beyond it, the owner starts over. */
export const MAX_TRIE_NODES = 1 << 22;

export class LabelTrie {
  #size = 1 << 10;
  #steps = new Int32Array(this.#size * 4);
  /** Number of nodes, including the root (0). */
  count = 1;

  /** Returns the node after a step; creates it if the step is new. */
  next(node: number, label: number, value: number): number {
    const mask = this.#size - 1;
    let slot = mix(node, label, value) & mask;
    const steps = this.#steps;
    for (;;) {
      const at = slot * 4;
      const target = steps[at + 3];
      if (target === 0) return this.#add(at, node, label, value);
      if (steps[at] === node && steps[at + 1] === label && steps[at + 2] === value) return target;
      slot = (slot + 1) & mask;
    }
  }

  clear(): void {
    this.#size = 1 << 10;
    this.#steps = new Int32Array(this.#size * 4);
    this.count = 1;
  }

  #add(at: number, node: number, label: number, value: number): number {
    const target = this.count++;
    const steps = this.#steps;
    steps[at] = node;
    steps[at + 1] = label;
    steps[at + 2] = value;
    steps[at + 3] = target;
    if (this.count * 2 > this.#size) this.#grow();
    return target;
  }

  #grow(): void {
    const old = this.#steps;
    this.#size *= 2;
    const mask = this.#size - 1;
    const steps = new Int32Array(this.#size * 4);
    for (let from = 0; from < old.length; from += 4) {
      if (old[from + 3] === 0) continue;
      let slot = mix(old[from], old[from + 1], old[from + 2]) & mask;
      while (steps[slot * 4 + 3] !== 0) slot = (slot + 1) & mask;
      steps.set(old.subarray(from, from + 4), slot * 4);
    }
    this.#steps = steps;
  }
}

function mix(node: number, label: number, value: number): number {
  let hash = Math.imul(node, 0x9e3779b1) ^ Math.imul(label, 0x85ebca6b) ^ Math.imul(value, 0xc2b2ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return hash ^ (hash >>> 13);
}
