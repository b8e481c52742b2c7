import { randomUUID } from 'node:crypto'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { Server } from '@modelcontextprotocol/sdk/server/index.js'

interface Session {
  readonly server: Server
  readonly transport: StreamableHTTPServerTransport
}

const MAX_SESSIONS = 64

/** The sessions of clients. Where there are too many, the one that was used longest ago ends. */
export class Sessions implements AsyncDisposable {
  /** Least recently used first. */
  readonly #sessions = new Map<string, Session>()
  readonly #createServer: () => Server

  constructor(createServer: () => Server) {
    this.#createServer = createServer
  }

  find(id: string): StreamableHTTPServerTransport | undefined {
    const session = this.#sessions.get(id)
    if (session === undefined) return undefined
    this.#sessions.delete(id)
    this.#sessions.set(id, session)
    return session.transport
  }

  /** A transport for a first request, which makes a session of it. */
  async open(): Promise<StreamableHTTPServerTransport> {
    const server = this.#createServer()
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: async (id) => {
        this.#sessions.set(id, { server, transport })
        const [oldest] = this.#sessions.values()
        if (this.#sessions.size > MAX_SESSIONS) await oldest?.server.close()
      },
    })
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the server has no other way
    server.onclose = () => {
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId)
    }
    await server.connect(transport)
    return transport
  }

  /** Tells all clients to read the lists again. */
  tellOfChanges(): void {
    for (const { server } of this.#sessions.values()) {
      void Promise.allSettled([server.sendToolListChanged(), server.sendPromptListChanged(), server.sendResourceListChanged()])
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#sessions.values()].map(({ server }) => server.close()))
  }
}
