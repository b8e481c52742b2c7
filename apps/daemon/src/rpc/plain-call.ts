/**
 * Unary calls in the form in which SDKs send them: Connect, small, not compressed and without a timeout. The library's pipeline takes several
 * times as long as such a call itself, so they are served here with the library's own codecs. All other calls, and messages that cannot be
 * read, are left to the library.
 */
import { create, type DescMethodUnary, type Message, type MessageInitShape } from '@bufbuild/protobuf'
import type { HandlerContext } from '@connectrpc/connect'
import { compressionNegotiate, createMethodSerializationLookup } from '@connectrpc/connect/protocol'
import { codeToHttpStatus, errorToJsonBytes } from '@connectrpc/connect/protocol-connect'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from 'node:http'
import { takeReceivedBody } from '../http/received-body.ts'
import { firstHeader } from '../http/request-header.ts'
import type { AccountDatabase } from '../users/account-database.ts'
import { gzipCompression } from './compression.ts'
import { jsonOptions } from './json-text.ts'
import { PlainContext } from './plain-context.ts'
import { toConnectError } from './rpc-error.ts'
import type { DaemonLog } from '../loggers.ts'

/** The library's default. */
const COMPRESSED_FROM_BYTES = 1024
const JSON_TYPES: ReadonlySet<string | undefined> = new Set(['application/json', 'application/json; charset=utf-8'])
const BINARY_TYPE = 'application/proto'

type Implementation = (message: Message, context: HandlerContext) => Promise<object> | object

export interface PlainMethod {
  readonly method: DescMethodUnary
  readonly implementation: Implementation
  readonly maxBytes: number
}

export interface PlainCallDeps {
  readonly accounts: AccountDatabase
  readonly log: DaemonLog
  readonly shutdown: AbortSignal
  readonly requireConnectProtocolHeader: boolean
}

interface Answer {
  readonly status: number
  readonly type: string
  readonly bytes: Uint8Array
}

/** A call that is left to the library. `body` is what has been read of it. */
interface LeftCall {
  readonly body?: Buffer
}

/** Serves a call of one method. The result is undefined when the answer has been sent. */
export type PlainCalls = (request: FastifyRequest, reply: FastifyReply) => Promise<LeftCall | undefined>

export function servePlainCalls({ method, implementation, maxBytes }: PlainMethod, deps: PlainCallDeps): PlainCalls {
  const serialization = createMethodSerializationLookup(method, undefined, jsonOptions(method), {
    readMaxBytes: maxBytes,
    writeMaxBytes: Infinity,
  })

  async function answer(message: Message, request: FastifyRequest, type: string): Promise<Answer> {
    using context = new PlainContext(method, request, deps.shutdown)
    try {
      const output = create(method.output, (await implementation(message, context)) as MessageInitShape<typeof method.output>)
      return { status: 200, type, bytes: serialization.getO(type === BINARY_TYPE).serialize(output) }
    } catch (error) {
      const failure = toConnectError(error, { log: deps.log, request: context })
      return { status: codeToHttpStatus(failure.code), type: 'application/json', bytes: errorToJsonBytes(failure, undefined) }
    }
  }

  return async (request, reply) => {
    const { headers } = request.raw
    if (!isPlain(headers, deps.requireConnectProtocolHeader)) return {}
    if (request.basicUser !== undefined && (await deps.accounts.lookupUser(request.basicUser)) === undefined) return {}
    const body = await takeReceivedBody(request.raw)
    if (body === undefined) return {}
    const type = headers['content-type'] === BINARY_TYPE ? BINARY_TYPE : 'application/json'
    const message = readMessage(() => serialization.getI(type === BINARY_TYPE).parse(body))
    if (message === undefined) return { body }
    await send(reply, await answer(message, request, type), firstHeader(request.raw, 'accept-encoding'))
    return undefined
  }
}

function isPlain(headers: IncomingHttpHeaders, needsVersion: boolean): boolean {
  const type = headers['content-type']
  if (!JSON_TYPES.has(type) && type !== BINARY_TYPE) return false
  if (headers['content-encoding'] !== undefined || headers['connect-timeout-ms'] !== undefined) return false
  return !needsVersion || headers['connect-protocol-version'] === '1'
}

function readMessage(parse: () => Message): Message | undefined {
  try {
    return parse()
  } catch {
    return undefined
  }
}

async function send(reply: FastifyReply, { status, type, bytes }: Answer, accepted: string): Promise<void> {
  const compression = bytes.length < COMPRESSED_FROM_BYTES ? null : compressionNegotiate([gzipCompression], null, accepted, '').response
  const content = compression === null ? bytes : await compression.compress(bytes)
  const headers: OutgoingHttpHeaders = {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': type,
    'content-length': content.length,
  }
  if (compression !== null) headers['content-encoding'] = compression.name
  reply.raw.writeHead(status, headers).end(content)
}
