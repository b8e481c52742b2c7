/** An operation under `/dashboard/api`: the value of a key `METHOD /path/{param}` of `DashboardApi`. Absent members: the request has none. */
export interface ApiShape {
  readonly params?: object
  readonly query?: object
  /** Sent as JSON. `BinaryBody`: sent as octets. */
  readonly body?: unknown
  /** `undefined`: 204. `BinaryAnswer`: octets. Else JSON. */
  readonly answer: unknown
}

/** Octets of a request. */
export interface BinaryBody {
  readonly binary: 'body'
}

/** Octets of an answer: always `attachment`, `application/octet-stream` and CSP `sandbox`. */
export interface BinaryAnswer {
  readonly binary: 'answer'
}

/** A page of a list. */
export interface Page<Item> {
  readonly data: readonly Item[]
  /** Null: there are no more. */
  readonly nextCursor: string | null
}

/** The body of every error, as in the control plane. `code` is the status. */
export interface ApiError {
  readonly code: number
  readonly message: string
}

/** RFC 3339, UTC. */
export type Instant = string
