/** The kinds of parts that the drill kills. */
export type PartKind = 'api' | 'proxy' | 'egress' | 'guard' | 'postgres' | 'engine'

/** A part of the server that is killed and started again while clients work. */
export interface Part {
  readonly kind: PartKind
  readonly name: string
  /** Ends it as SIGKILL does: nothing of it is cleaned up. */
  kill(): Promise<void>
  /** Starts it again, as a service manager does, and resolves when it serves. @throws Error when it does not in time */
  restart(): Promise<void>
}
