/** An entry that is created before a scenario. Paths and link targets are bytes, one character each (latin1). */
export interface TreeEntry {
  readonly path: string
  readonly kind: 'file' | 'directory' | 'link' | 'hardLink' | 'fifo' | 'socket' | 'character' | 'block'
  /** The content of a file. */
  readonly content?: string
  /** The target of a symbolic or hard link. */
  readonly target?: string
  readonly mode?: number
  readonly uid?: number
  readonly gid?: number
  readonly mtimeSeconds?: number
  /** Extended attributes: full names, values in latin1. */
  readonly attributes?: Readonly<Record<string, string>>
}
