/** An object of an installation on an engine that nothing of it uses. */
export interface Orphan {
  readonly kind: 'container' | 'image' | 'network' | 'volume'
  /** The engine's id; the name of a volume or of an image with one. */
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  /** What its removal frees at most: layers may be shared. Undefined when the engine does not tell it. */
  readonly sizeBytes: number | undefined
  readonly reason: string
}

/** Finds and removes the orphans of one installation: the engine with the records of the database. */
export interface OrphanSource {
  find(): Promise<readonly Orphan[]>
  remove(orphan: Orphan): Promise<void>
}
