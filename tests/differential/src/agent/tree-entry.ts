/** Something that is made before a scenario. Paths and link texts are bytes, one character each (latin1). */
export interface TreeEntry {
  readonly path: string
  readonly kind: 'file' | 'directory' | 'link' | 'hardLink' | 'fifo' | 'socket' | 'character' | 'block'
  /** Of a file. */
  readonly content?: string
  /** Of both kinds of link. */
  readonly target?: string
  readonly mode?: number
  readonly uid?: number
  readonly gid?: number
  readonly mtimeSeconds?: number
  /** Whole names, values in latin1. */
  readonly attributes?: Readonly<Record<string, string>>
}
