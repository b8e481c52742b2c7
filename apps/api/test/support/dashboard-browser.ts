import type { Server } from './control-plane.ts'
import type { Answer } from './control-plane.ts'

export const ORIGIN = 'http://dash.localhost:3000'

export interface BrowserOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Default: our own. Null: none. */
  readonly origin?: string | null
  /** Default: the cookies that the server has set. */
  readonly cookie?: string
  readonly remoteAddress?: string
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE' | 'OPTIONS'

/** Calls the dashboard as a browser on a page of this server does: with `Origin`, and with the cookies that it was given. */
export class Browser {
  readonly #server: Pick<Server, 'app'>
  readonly #cookies = new Map<string, string>()

  constructor(server: Pick<Server, 'app'>) {
    this.#server = server
  }

  get cookie(): string {
    return [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  }

  /** @param path - below `/dashboard` */
  async call(
    method: Method,
    path: string,
    { body, headers, origin = ORIGIN, cookie, remoteAddress }: BrowserOptions = {},
  ): Promise<Answer> {
    const answer = await this.#server.app.inject({
      method,
      url: `/dashboard${path}`,
      headers: {
        host: new URL(ORIGIN).host,
        ...(origin !== null && { origin }),
        cookie: cookie ?? this.cookie,
        ...headers,
      },
      ...(remoteAddress !== undefined && { remoteAddress }),
      ...(body !== undefined && { payload: body as object }),
    })
    for (const set of [answer.headers['set-cookie'] ?? []].flat()) this.#keep(set)
    return { status: answer.statusCode, headers: answer.headers, text: answer.body, body: parse(answer.body) }
  }

  async logIn(body: object): Promise<this> {
    const answer = await this.call('POST', '/api/login', { body })
    if (answer.status !== 200) throw new Error(`the login was answered with ${answer.status}: ${answer.text}`)
    return this
  }

  #keep(set: string): void {
    // Of another place than the cookies of this host.
    if (/; domain=/i.test(set) || !/; path=\/(;|$)/i.test(set)) return
    const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
    if (/max-age=0(;|$)/i.test(set)) this.#cookies.delete(name)
    else this.#cookies.set(name, value)
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
