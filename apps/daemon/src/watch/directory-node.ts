/** A directory of a recursive watcher. Its path is computed from its parents, so a rename changes one node. */
export class DirectoryNode {
  readonly wd: number
  readonly children = new Map<string, DirectoryNode>()
  /** True once all entries have been scanned and all subdirectories are nodes. */
  isScanned = false
  #parent: DirectoryNode | undefined
  #name: string

  /** @param name is empty for the root */
  constructor(wd: number, parent?: DirectoryNode, name = '') {
    this.wd = wd
    this.#parent = parent
    this.#name = name
    parent?.children.set(name, this)
  }

  /** Relative to the root, which is empty. A removed node keeps its last path. */
  get path(): string {
    return this.#parent === undefined ? '' : this.#parent.pathOf(this.#name)
  }

  get isRoot(): boolean {
    return this.#parent === undefined
  }

  get isPlaced(): boolean {
    return this.#parent === undefined || this.#parent.children.get(this.#name) === this
  }

  /** The path of an entry of this directory, relative to the root. */
  pathOf(name: string): string {
    const path = this.path
    return path === '' ? name : `${path}/${name}`
  }

  isWithin(node: DirectoryNode): boolean {
    return this === node || (this.#parent?.isWithin(node) ?? false)
  }

  /** Attaches the node and its subtree at a place that may be taken. */
  place(parent: DirectoryNode, name: string): void {
    this.remove()
    this.#parent = parent
    this.#name = name
    parent.children.set(name, this)
  }

  /** Undoes `remove`. */
  putBack(): void {
    this.#parent?.children.set(this.#name, this)
  }

  remove(): void {
    if (this.isPlaced) this.#parent?.children.delete(this.#name)
  }

  /** The node and all below it. */
  *subtree(): Generator<DirectoryNode> {
    yield this
    for (const child of this.children.values()) yield* child.subtree()
  }
}
