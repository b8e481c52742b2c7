/** Why no connection to a server was made, or no request sent; counted as the rule of a refused connection. */
export type DialFailure =
  /** The name has no address, or its lookup failed. */
  | 'unresolved'
  /** The name has only addresses that are closed or that the policy denies. */
  | 'closed_name'
  /** The server did not accept a connection in time. */
  | 'unreachable'
  /** The SOCKS5 proxy is closed, unreachable, or refused. */
  | 'proxy_failed'
  /** The server's certificate is not valid for its name. */
  | 'bad_certificate'
  /** A rule sets a header with a secret or a token that is not there, or the request is not encrypted. */
  | 'missing_secret'
  /** The requests under way of the sandbox, the team or all have too many characters of secrets and tokens, or too many look-ups wait. */
  | 'too_many_values'

export class DialError extends Error {
  override readonly name = 'DialError'
  readonly failure: DialFailure

  constructor(failure: DialFailure, cause?: unknown) {
    super(`no connection: ${failure}`, { cause })
    this.failure = failure
  }
}
