/** Who asked for a change. */
export type Caller =
  | { readonly kind: 'key'; readonly credentialId: string; readonly userId?: string | undefined }
  | { readonly kind: 'user'; readonly credentialId: string | undefined; readonly userId: string }
  | { readonly kind: 'admin' }
  /** The signature in the address of an upload. */
  | { readonly kind: 'link' }

/** Ids and names, by the names of the interface. */
export type AuditTargets = Readonly<Record<string, string | number | readonly string[]>>

/** A call of an operation that changes something. */
export interface AuditEntry {
  readonly at: Date
  /** Undefined when the credentials were refused, or when there were none. */
  readonly caller: Caller | undefined
  readonly teamId: string | undefined
  readonly clientAddress: string
  readonly requestId: string
  /** The id of the operation in the interface. */
  readonly operation: string
  readonly targets: AuditTargets
  /** The status of the answer. */
  readonly status: number
  /** False: it is in the log only. */
  readonly isStored: boolean
}
