import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import type { RequestOptions } from '@modelcontextprotocol/sdk/shared/protocol.js'
import {
  CallToolRequestSchema,
  ErrorCode,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  McpError,
  ReadResourceRequestSchema,
  type Progress,
  type Result,
} from '@modelcontextprotocol/sdk/types.js'
import { resultWithin } from '@sandyard/kit/async/within'
import type { StdioServer } from '../servers/stdio-server.ts'
import type { Exposed, ExposedNames } from './exposed-names.ts'

/** A tool may take long; its progress starts the time anew. */
const [CALL_TIMEOUT_MS, LONGEST_CALL_MS] = [300_000, 3_600_000]
/** Servers that are still being installed are waited for so long in each session: the Python client gives up an answer after 30 s without a byte. */
const START_PATIENCE_MS = 25_000

/** What the gateway uses of the context of a request. */
interface Extra {
  readonly signal: AbortSignal
  readonly _meta?: { readonly progressToken?: string | number | undefined } | undefined
  readonly sendNotification: (notification: {
    method: 'notifications/progress'
    params: Progress & { progressToken: string | number }
  }) => Promise<void>
}

/** The names of all sessions. */
export interface SessionNames {
  readonly tools: ExposedNames
  readonly prompts: ExposedNames
}

/** One client's view of all servers. */
export function createSessionServer(servers: readonly StdioServer[], names: SessionNames): Server {
  const server = new Server(
    { name: 'mcp-gateway', version: '1.0.0' },
    { capabilities: { tools: { listChanged: true }, prompts: { listChanged: true }, resources: { listChanged: true } } },
  )
  const until = Date.now() + START_PATIENCE_MS
  /** A client that lists as soon as the gateway serves gets the lists of servers that need some seconds more, too. */
  const allTried = async (): Promise<void> => {
    await resultWithin(Math.max(0, until - Date.now()), Promise.all(servers.map(({ tried }) => tried)))
  }
  const tools = (): Map<string, Exposed<StdioServer, StdioServer['listings']['tools'][number]>> =>
    names.tools.of(servers, ({ listings }) => listings.tools)
  const prompts = (): Map<string, Exposed<StdioServer, StdioServer['listings']['prompts'][number]>> =>
    names.prompts.of(servers, ({ listings }) => listings.prompts)

  server.setRequestHandler(ListToolsRequestSchema, async () => {
    await allTried()
    return { tools: [...tools().values()].map(({ name, item }) => ({ ...item, name })) }
  })
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, extra) => {
    const tool = await findTried(allTried, () => tools().get(params.name), `unknown tool "${params.name}"`)
    return tool.server.request('tools/call', { ...withoutMeta(params), name: tool.item.name }, toOptions(extra))
  })
  server.setRequestHandler(ListPromptsRequestSchema, async () => {
    await allTried()
    return { prompts: [...prompts().values()].map(({ name, item }) => ({ ...item, name })) }
  })
  server.setRequestHandler(GetPromptRequestSchema, async ({ params }, extra) => {
    const prompt = await findTried(allTried, () => prompts().get(params.name), `unknown prompt "${params.name}"`)
    return prompt.server.request('prompts/get', { ...withoutMeta(params), name: prompt.item.name }, toOptions(extra))
  })
  server.setRequestHandler(ListResourcesRequestSchema, async () => {
    await allTried()
    return { resources: servers.flatMap(({ listings }) => listings.resources) }
  })
  server.setRequestHandler(ListResourceTemplatesRequestSchema, async () => {
    await allTried()
    return { resourceTemplates: servers.flatMap(({ listings }) => listings.resourceTemplates) }
  })
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }, extra) =>
    readResource({ servers, allTried }, params.uri, toOptions(extra)),
  )
  return server
}

interface Sources {
  readonly servers: readonly StdioServer[]
  /** Resolves when each has been started once, or at the end of the patience. */
  readonly allTried: () => Promise<void>
}

/** Asks the server that lists the resource, else those with templates, one after the other. */
async function readResource({ servers, allTried }: Sources, uri: string, options: RequestOptions): Promise<Result> {
  const withResource = (): StdioServer[] => servers.filter(({ listings }) => listings.resources.some((resource) => resource.uri === uri))
  if (withResource().length === 0) await allTried()
  const listing = withResource()
  const candidates = listing.length > 0 ? listing : servers.filter(({ listings }) => listings.resourceTemplates.length > 0)
  let failure: unknown = new McpError(ErrorCode.InvalidParams, `unknown resource "${uri}"`)
  for (const server of candidates) {
    try {
      return await server.request('resources/read', { uri }, options)
    } catch (err) {
      failure = err
    }
  }
  throw failure
}

function toOptions({ signal, _meta, sendNotification }: Extra): RequestOptions {
  const options = { signal, timeout: CALL_TIMEOUT_MS, maxTotalTimeout: LONGEST_CALL_MS, resetTimeoutOnProgress: true }
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return options
  return {
    ...options,
    onprogress: (progress) =>
      void sendNotification({ method: 'notifications/progress', params: { ...progress, progressToken } }).catch(() => undefined),
  }
}

/** The token of progress is of the client's session, and the gateway has another one with the server. */
function withoutMeta<Params extends { _meta?: unknown }>({ _meta, ...params }: Params): Omit<Params, '_meta'> {
  return params
}

/** @throws McpError `InvalidParams` with the message, if no server has it after its first start */
async function findTried<Value>(allTried: () => Promise<void>, find: () => Value | undefined, message: string): Promise<Value> {
  const known = find()
  if (known !== undefined) return known
  await allTried()
  const value = find()
  if (value === undefined) throw new McpError(ErrorCode.InvalidParams, message)
  return value
}
