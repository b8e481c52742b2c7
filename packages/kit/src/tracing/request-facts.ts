import { randomId } from '../ids/ids.ts'

/** Safe in headers, in lines of a log and in an address; as long as the ids of common proxies and libraries. */
const WELL_FORMED = /^[\w.:@+/=-]{1,128}$/
const OWN_LENGTH = 16

/** The value of the header `X-Request-ID` when it is one id of safe characters. */
export function readRequestId(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' && WELL_FORMED.test(header) ? header : undefined
}

export interface RequestFactsOptions {
  /** The header `X-Request-ID` of the request. */
  readonly header?: string | readonly string[] | undefined
  readonly client?: string | undefined
  /** Makes the signal `gone`, which most requests do not need. */
  readonly watchClient?: (() => AbortSignal) | undefined
}

/** What is known of a request while it is served. */
export class RequestFacts {
  readonly #header: string | readonly string[] | undefined
  readonly #watchClient: (() => AbortSignal) | undefined
  #id: string | undefined
  #gone: AbortSignal | undefined
  /** The key of its client, by which it is counted until its team is known. */
  readonly client: string | undefined
  /** The team that it acts for, as soon as that is known. */
  teamId: string | undefined

  constructor({ header, client, watchClient }: RequestFactsOptions = {}) {
    this.#header = header
    this.client = client
    this.#watchClient = watchClient
  }

  /** Aborts when the client has gone before its answer was sent. Undefined where nothing watches it. */
  get gone(): AbortSignal | undefined {
    return (this.#gone ??= this.#watchClient?.())
  }

  /** The id that the client has sent when it is well-formed, else one that is made when it is first asked for. */
  get id(): string {
    return (this.#id ??= readRequestId(this.#header) ?? randomId(OWN_LENGTH))
  }
}
